/** A queue of names ordered by time: a binary heap, so that one timer serves any number of names. Pure. */

interface Entry {
  readonly name: string;
  readonly at: number;
}

export class TimeQueue {
  /** The children of an entry, at twice its index plus one and plus two, are not earlier than the entry. */
  readonly #heap: Entry[] = [];
  /** The current entry of each name. Other entries in the heap were replaced or removed. */
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /** Sets the time of the name, in place of a former one. */
  set(name: string, at: number): void {
    const entry = { name, at };
    this.#entries.set(name, entry);
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    if (this.#heap.length > 2 * this.#entries.size + HEAP_SURPLUS) this.#rebuild();
  }

  delete(name: string): void {
    this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
    this.#heap.length = 0;
  }

  /** The earliest time; null if the queue is empty. */
  get nextAt(): number | null {
    this.#dropReplaced();
    return this.#heap[0]?.at ?? null;
  }

  /** Removes and returns the name with the earliest time, if that is not after `now`. */
  takeDue(now: number): string | null {
    this.#dropReplaced();
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return null;
    this.#pop();
    this.#entries.delete(first.name);
    return first.name;
  }

  #dropReplaced(): void {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#entries.get(first.name) === first) return;
      this.#pop();
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#sink(0);
  }

  #rebuild(): void {
    const entries = [...this.#entries.values()];
    this.#heap.length = 0;
    for (const entry of entries) {
      this.#heap.push(entry);
      this.#rise(this.#heap.length - 1);
    }
  }

  #rise(from: number): void {
    for (let index = from; index > 0; ) {
      const parent = (index - 1) >> 1;
      if (this.#at(parent) <= this.#at(index)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(from: number): void {
    for (let index = from; ; ) {
      const left = 2 * index + 1;
      const child = this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (this.#at(index) <= this.#at(child)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  #at(index: number): number {
    return this.#heap[index]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}

/** Maximum surplus of replaced entries in the heap. */
const HEAP_SURPLUS = 64;
