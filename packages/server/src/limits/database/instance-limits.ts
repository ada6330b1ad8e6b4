/** What runs at one database of each instance that has a bound of its own. */
import { divideWhole } from '../share.ts';
import type { InstanceBound } from './permit.ts';

export class InstanceLimits {
  /** Those with calls that run. */
  readonly #instances = new Map<string, { running: number; max: number }>();

  /** A call comes with it: the operator may have changed it, also for those that wait already. */
  hear({ instance, max }: InstanceBound): void {
    const known = this.#instances.get(instance);
    if (known !== undefined) known.max = max;
  }

  begin({ instance, max }: InstanceBound): void {
    const known = this.#instances.get(instance) ?? { running: 0, max };
    known.running++;
    this.#instances.set(instance, known);
  }

  /** Once for each that has begun. */
  end({ instance }: InstanceBound): void {
    const known = this.#instances.get(instance);
    if (known !== undefined && --known.running === 0) this.#instances.delete(instance);
  }

  /** `processes` share the bound. */
  isReached({ instance }: InstanceBound, processes: number): boolean {
    const known = this.#instances.get(instance);
    return known !== undefined && known.running >= divideWhole(known.max, processes);
  }
}
