/** A queue ordered by position: the lower, the earlier. Members join at the end, or return to where they were. */
export class Queue<Member extends { readonly position: number }> {
  /** Sorted. Those before `#first` have left: an array of many is slow to shift. */
  #members: Member[] = [];
  #first = 0;

  get first(): Member | undefined {
    return this.#members[this.#first];
  }

  get size(): number {
    return this.#members.length - this.#first;
  }

  /** Runs `visit` for each member, in order. It must change nothing. */
  each(visit: (member: Member) => void): void {
    for (let at = this.#first; at < this.#members.length; at += 1) visit(this.#members[at] as Member); // it is in bounds
  }

  /** So many members, evenly spaced from the first one to the last. */
  spread(count: number): Member[] {
    const step = Math.max(1, (this.size - 1) / (count - 1));
    const most = Math.min(count, this.size);
    return Array.from({ length: most }, (_, nth) => this.#members[this.#first + Math.round(nth * step)] as Member); // in bounds
  }

  join(member: Member): void {
    const last = this.#members.at(-1);
    if (last === undefined || last.position < member.position) this.#members.push(member);
    else this.#members.splice(this.#indexOf(member.position), 0, member);
  }

  /** Returns whether the member was in this queue. */
  leave(member: Member): boolean {
    if (member !== this.first) {
      const index = this.#indexOf(member.position);
      return this.#members[index] === member && this.#members.splice(index, 1).length > 0;
    }
    this.#first += 1;
    if (this.#first * 2 <= this.#members.length) return true;
    this.#members = this.#members.slice(this.#first);
    this.#first = 0;
    return true;
  }

  /** The index of a position, or where it would be. */
  #indexOf(position: number): number {
    let [low, high] = [this.#first, this.#members.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#members[middle]?.position ?? position) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
