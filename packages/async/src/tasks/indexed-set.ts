/** An element of an {@link IndexedSet}. */
export interface Indexed {
  /** Its position in the set; -1 while it is in none. Only the set changes it. */
  index: number;
}

/**
 * A set without an order, for elements that come and go with each call. An element is in at most one such set.
 *
 * `Set` and `Map` make a new table when enough elements were removed, and the old table refers to the new one. Once V8
 * has moved a table to its old space, it therefore moves all later ones there, with the calls that they contain
 * (docs/decisions/0026-garbage-and-wake-ups.md).
 */
export class IndexedSet<Element extends Indexed> {
  readonly #elements: Element[] = [];

  get size(): number {
    return this.#elements.length;
  }

  /** Adds an element that is in no other set. No effect if it is in this one. */
  add(element: Element): void {
    if (element.index !== -1) return;
    element.index = this.#elements.length;
    this.#elements.push(element);
  }

  /** Removes the element. No effect if it is not in this set. */
  delete(element: Element): void {
    const { index } = element;
    if (this.#elements[index] !== element) return;
    element.index = -1;
    const last = this.#elements.pop() as Element;
    if (last === element) return;
    this.#elements[index] = last;
    last.index = index;
  }

  /** The elements that are in the set now. */
  toArray(): Element[] {
    return this.#elements.slice();
  }
}
