/** A counting semaphore for each key. */
export class KeyedSemaphore {
  readonly #held = new Map<string, number>();

  /** Acquires the semaphore unless it is held `max` times. Each success needs one `release`. */
  tryAcquire(key: string, max: number): boolean {
    const held = this.#held.get(key) ?? 0;
    if (held >= max) return false;
    this.#held.set(key, held + 1);
    return true;
  }

  release(key: string): void {
    const held = this.#held.get(key) ?? 0;
    if (held > 1) this.#held.set(key, held - 1);
    else this.#held.delete(key);
  }
}
