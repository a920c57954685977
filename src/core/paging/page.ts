/** One page of a list, as the service sends it. */
export interface Page<Item> {
  /** The items. There may be fewer than `limit`, or none, although another page follows. */
  data: Item[];
  /** The cursor of the next page; `null` on the last one. */
  next_cursor: string | null;
}
