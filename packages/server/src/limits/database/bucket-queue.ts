/** Items by a whole number of theirs, which changes in small steps: who has the lowest; first come first among equals. */
import { LinkedList, type ListNode } from './linked-list.ts';

export class BucketQueue<Item> {
  readonly #ranks = new Map<number, LinkedList<Item>>();
  readonly #places = new Map<Item, { rank: number; link: ListNode<Item> }>();
  #lowest = 0;

  get size(): number {
    return this.#places.size;
  }

  get first(): Item | null {
    if (this.size === 0) return null;
    let rank = this.#ranks.get(this.#lowest);
    while (rank === undefined) rank = this.#ranks.get(++this.#lowest);
    return rank.first?.item ?? null;
  }

  /** Adds it, or moves it to the end of another rank; in the same rank it keeps its place. */
  place(item: Item, rank: number): void {
    if (this.#places.get(item)?.rank === rank) return;
    this.remove(item);
    const chain = this.#ranks.get(rank) ?? new LinkedList();
    this.#ranks.set(rank, chain);
    this.#lowest = this.size === 0 ? rank : Math.min(this.#lowest, rank);
    this.#places.set(item, { rank, link: chain.add(item) });
  }

  remove(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const chain = this.#ranks.get(place.rank);
    chain?.remove(place.link);
    if (chain?.size === 0) this.#ranks.delete(place.rank);
  }
}
