/**
 * A priority queue for integer priorities that change in small steps. Items with the same priority are in first-in,
 * first-out order.
 */
import { LinkedList, type ListNode } from './linked-list.ts';

export class BucketQueue<Item> {
  readonly #buckets = new Map<number, LinkedList<Item>>();
  readonly #entries = new Map<Item, { priority: number; node: ListNode<Item> }>();
  #lowest = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The oldest item of those with the lowest priority number. */
  get first(): Item | null {
    if (this.size === 0) return null;
    let bucket = this.#buckets.get(this.#lowest);
    while (bucket === undefined) bucket = this.#buckets.get(++this.#lowest);
    return bucket.first?.item ?? null;
  }

  /** Adds the item, or moves it behind the others of another priority. An unchanged priority keeps its position. */
  set(item: Item, priority: number): void {
    if (this.#entries.get(item)?.priority === priority) return;
    this.remove(item);
    const bucket = this.#buckets.get(priority) ?? new LinkedList();
    this.#buckets.set(priority, bucket);
    this.#lowest = this.size === 0 ? priority : Math.min(this.#lowest, priority);
    this.#entries.set(item, { priority, node: bucket.add(item) });
  }

  remove(item: Item): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    const bucket = this.#buckets.get(entry.priority);
    bucket?.remove(entry.node);
    if (bucket?.size === 0) this.#buckets.delete(entry.priority);
  }
}
