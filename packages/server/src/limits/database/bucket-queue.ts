/**
 * A priority queue for integer priorities that change in small steps. Items with the same priority are in first-in,
 * first-out order.
 */
import { LinkedList, type ListNode } from './linked-list.ts';

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
