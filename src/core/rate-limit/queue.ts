import { now } from "../time/clock.ts";

/** The number that look when time makes room: a platform may drop some calls with their timers. */
const AWAKE = 16;
/** The others look too, about one of them in this time. */
const SPREAD_MS = 1;

interface Waiting {
  readonly position: number;
  wakesAt: number;
  /** It goes on now, and sets its timer anew if it has to wait. */
  wake(): void;
}

/** A queue in order of positions. Each member has a timer. Few are awake at once, however many there are. */
export class Queue<Member extends Waiting> {
  /** Sorted. Those before `#first` have left: an array of many is slow to shift. */
  #members: Member[] = [];
  #first = 0;
  /** Members that have left behind the first one, and are still in the array: at most a quarter of it. */
  readonly #gone = new Set<Member>();
  readonly #awake = new Set<Member>();
  #awakeAt = 0;

  get first(): Member | undefined {
    return this.#members[this.#first];
  }

  get size(): number {
    return this.#members.length - this.#first - this.#gone.size;
  }

  /** A copy. */
  get members(): Member[] {
    return this.#members.slice(this.#first).filter((member) => !this.#gone.has(member));
  }

  join(member: Member): void {
    // The few who are awake may have been dropped: those who wake are chosen anew, this one among them.
    if (this.#awake.size < AWAKE) this.#awakeAt = 0;
    const last = this.#members.at(-1);
    if (this.#gone.delete(member)) return;
    if (last === undefined || last.position < member.position) this.#members.push(member);
    else this.#members.splice(this.#indexOf(member.position), 0, member);
  }

  leave(member: Member): void {
    const isFirst = member === this.first;
    // Perhaps no other one of them still has its timer: others are chosen.
    if (this.#awake.delete(member) && (!isFirst || this.#awake.size === 0)) this.#awakeAt = 0;
    if (isFirst) this.#first += 1;
    else this.#gone.add(member);
    while (this.#forget(this.first)) this.#first += 1;
    while (this.#forget(this.#members.at(-1))) this.#members.pop();
    const { length } = this.#members;
    if (this.#first * 2 <= length && this.#gone.size * 4 <= length) return;
    this.#members = this.members;
    this.#gone.clear();
    this.#first = 0;
  }

  /** Time may make room at this moment: some wake then, the last one among them, since the first may have been dropped. */
  wakeSome(at: number): void {
    if (now() < this.#awakeAt && this.#awakeAt <= at) return;
    this.#awakeAt = at;
    this.#awake.clear();
    const step = Math.max(1, (this.#members.length - this.#first - 1) / (AWAKE - 1));
    for (let index = this.#first; index < this.#members.length; index += step) {
      const member = this.#members[Math.round(index)];
      if (member === undefined || this.#gone.has(member)) continue;
      this.#awake.add(member);
      if (member.wakesAt === at) continue;
      member.wakesAt = at;
      member.wake();
    }
  }

  /** The moment at which any other one wakes, where time may make room at this one: later where many wait. */
  wakesAt(at: number): number {
    return at + (this.size > AWAKE ? Math.random() * this.size * SPREAD_MS : 0);
  }

  /** Returns whether it is one of those that have left. */
  #forget(member: Member | undefined): boolean {
    return member !== undefined && this.#gone.delete(member);
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
