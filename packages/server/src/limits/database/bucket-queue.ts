/**
 * A priority queue for integer priorities that change in small steps. Items with the same priority are in first-in,
 * first-out order.
 */

/**
 * Maximum number of buckets that an empty queue keeps. A queue with items has at most one for each priority that
 * occurred, which the limits of calls bound.
 */
const EMPTY_BUCKETS_MAX = 64;

interface Entry<Item> {
  priority: number;
  node: ListNode<Item>;
}

export class BucketQueue<Item> {
  /** The buckets by priority. Empty ones are kept, because priorities change in small steps and soon return. */
  readonly #buckets = new Map<number, LinkedList<Item>>();
  readonly #entries = new Map<Item, Entry<Item>>();
  #lowest = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The oldest of the items with the lowest priority number. */
  get first(): Item | null {
    if (this.size === 0) return null;
    let item = this.#buckets.get(this.#lowest)?.first?.item;
    while (item === undefined) item = this.#buckets.get(++this.#lowest)?.first?.item;
    return item;
  }

  /**
   * Adds the item, or moves it behind the items of its new priority. With an unchanged priority it keeps its position.
   */
  set(item: Item, priority: number): void {
    const entry = this.#entries.get(item);
    if (entry?.priority === priority) return;
    this.#lowest = this.size === 0 ? priority : Math.min(this.#lowest, priority);
    if (entry === undefined) {
      this.#entries.set(item, { priority, node: this.#findBucket(priority).add(item) });
      return;
    }
    this.#buckets.get(entry.priority)?.remove(entry.node);
    entry.priority = priority;
    entry.node = this.#findBucket(priority).add(item);
  }

  remove(item: Item): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    this.#buckets.get(entry.priority)?.remove(entry.node);
    if (this.size === 0 && this.#buckets.size > EMPTY_BUCKETS_MAX) this.#buckets.clear();
  }

  #findBucket(priority: number): LinkedList<Item> {
    let bucket = this.#buckets.get(priority);
    if (bucket === undefined) {
      bucket = new LinkedList();
      this.#buckets.set(priority, bucket);
    }
    return bucket;
  }
}

/** A doubly linked list. Any node can be removed in constant time. */
export interface ListNode<Item> {
  readonly item: Item;
  before: ListNode<Item> | null;
  after: ListNode<Item> | null;
  /** The list that contains the node; null after its removal. */
  list: LinkedList<Item> | null;
}

export class LinkedList<Item> {
  first: ListNode<Item> | null = null;
  last: ListNode<Item> | null = null;
  size = 0;

  /** Yields the nodes. During the iteration, only the last yielded node may be removed. */
  *[Symbol.iterator](): Generator<ListNode<Item>> {
    for (let node = this.first; node !== null; ) {
      const { after } = node;
      yield node;
      node = after;
    }
  }

  /** Appends the item. */
  add(item: Item): ListNode<Item> {
    const node: ListNode<Item> = { item, before: this.last, after: null, list: this };
    if (this.last === null) this.first = node;
    else this.last.after = node;
    this.last = node;
    this.size++;
    return node;
  }

  /** Returns whether the node was in this list. If not, nothing changes. */
  remove(node: ListNode<Item>): boolean {
    if (node.list !== this) return false;
    const { before, after } = node;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    node.list = null;
    // Cleared, because the node could otherwise keep its former neighbours in memory.
    node.before = null;
    node.after = null;
    this.size--;
    return true;
  }
}
