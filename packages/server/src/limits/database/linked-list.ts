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
