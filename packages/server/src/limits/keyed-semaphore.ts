/** So many at once, by name. */
export class KeyedSemaphore {
  readonly #taken = new Map<string, number>();

  /** Takes a slot if one of `max` is free. Each one taken must be freed. */
  tryTake(name: string, max: number): boolean {
    const taken = this.#taken.get(name) ?? 0;
    if (taken >= max) return false;
    this.#taken.set(name, taken + 1);
    return true;
  }

  free(name: string): void {
    const taken = this.#taken.get(name) ?? 0;
    if (taken > 1) this.#taken.set(name, taken - 1);
    else this.#taken.delete(name);
  }
}
