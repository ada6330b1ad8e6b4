/** A doubly linked list: what is in it can be taken out of its middle at once. */
export interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | null;
  after: Link<Item> | null;
}

export class Chain<Item> {
  first: Link<Item> | null = null;
  last: Link<Item> | null = null;
  size = 0;

  *[Symbol.iterator](): Generator<Link<Item>> {
    for (let link = this.first; link !== null; link = link.after) yield link;
  }

  /** Puts it at the end; the link takes it out again. */
  add(item: Item): Link<Item> {
    const link: Link<Item> = { item, before: this.last, after: null };
    if (this.last === null) this.first = link;
    else this.last.after = link;
    this.last = link;
    this.size++;
    return link;
  }

  /** Once for each link of this chain. */
  remove({ before, after }: Link<Item>): void {
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    this.size--;
  }
}
