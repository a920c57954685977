/** A member of a queue. `place` orders it: the lower, the earlier. */
export interface Queued {
  readonly place: number;
  before?: Queued | undefined;
  behind?: Queued | undefined;
}

/** A queue ordered by place. Joining at the end, leaving from anywhere and returning to the head take constant time. */
export class Queue<Member extends Queued> implements Iterable<Member> {
  #first: Queued | undefined;
  #last: Queued | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): Member | undefined {
    return this.#first as Member | undefined; // only members are ever linked
  }

  /** New members have the highest place and go to the end; returning ones are among the first. */
  join(member: Member): void {
    let behind: Queued | undefined;
    if (this.#last !== undefined && this.#last.place > member.place) {
      behind = this.#first;
      while (behind !== undefined && behind.place < member.place) behind = behind.behind;
    }
    const before = behind === undefined ? this.#last : behind.before;
    member.before = before;
    member.behind = behind;
    if (before === undefined) this.#first = member;
    else before.behind = member;
    if (behind === undefined) this.#last = member;
    else behind.before = member;
    this.#length += 1;
  }

  /** The member must be in this queue. */
  leave(member: Member): void {
    const { before, behind } = member;
    if (before === undefined) this.#first = behind;
    else before.behind = behind;
    if (behind === undefined) this.#last = before;
    else behind.before = before;
    member.before = undefined;
    member.behind = undefined;
    this.#length -= 1;
  }

  /** In order. A member may leave while it is visited. */
  *[Symbol.iterator](): Generator<Member> {
    let member = this.#first;
    while (member !== undefined) {
      const next = member.behind;
      yield member as Member; // only members are ever linked
      member = next;
    }
  }
}
