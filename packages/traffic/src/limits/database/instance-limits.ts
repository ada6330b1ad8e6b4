/** Counts the running calls of each instance of a database that has its own concurrency bound. */
import { divideWhole } from '../admitted.ts';
import type { InstanceBound } from './permit.ts';

export class InstanceLimits {
  /** The instances with running calls. */
  readonly #instances = new Map<string, { running: number; max: number }>();

  /** Applies the bound of the newest call, also to calls that already wait. */
  update({ instance, max }: InstanceBound): void {
    const known = this.#instances.get(instance);
    if (known !== undefined) known.max = max;
  }

  begin({ instance, max }: InstanceBound): void {
    const known = this.#instances.get(instance) ?? { running: 0, max };
    known.running++;
    this.#instances.set(instance, known);
  }

  /** Must be called once for each `begin`. */
  end({ instance }: InstanceBound): void {
    const known = this.#instances.get(instance);
    if (known !== undefined && --known.running === 0) this.#instances.delete(instance);
  }

  /** `processes`: number of processes that share the bound. */
  isReached({ instance }: InstanceBound, processes: number): boolean {
    const known = this.#instances.get(instance);
    return known !== undefined && known.running >= divideWhole(known.max, processes);
  }
}
