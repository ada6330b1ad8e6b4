/** A doubly linked list: what is in it can be taken out of its middle at once. */
export interface ListNode<Item> {
  readonly item: Item;
  before: ListNode<Item> | null;
  after: ListNode<Item> | null;
  /** The chain that it is in; null once it was taken out. */
  chain: LinkedList<Item> | null;
}

export class LinkedList<Item> {
  first: ListNode<Item> | null = null;
  last: ListNode<Item> | null = null;
  size = 0;

  *[Symbol.iterator](): Generator<ListNode<Item>> {
    for (let link = this.first; link !== null; link = link.after) yield link;
  }

  /** Puts it at the end; the link takes it out again. */
  add(item: Item): ListNode<Item> {
    const link: ListNode<Item> = { item, before: this.last, after: null, chain: this };
    if (this.last === null) this.first = link;
    else this.last.after = link;
    this.last = link;
    this.size++;
    return link;
  }

  /** Whether it was in this chain; if not, nothing changes. */
  remove(link: ListNode<Item>): boolean {
    if (link.chain !== this) return false;
    const { before, after } = link;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    link.chain = null;
    this.size--;
    return true;
  }
}
