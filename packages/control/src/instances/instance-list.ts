/**
 * All stored instances without their keys, for requests that choose among them. Read from the store at most once a
 * second, in pages, so that thousands of instances do not keep other callers waiting.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SingleFlightCache } from '@erp-proxy/async/tasks';
import type { InstanceRecord, Instances } from './instances.ts';

export interface InstanceList {
  /** Sorted by name. A change is seen after a second at the latest. */
  list(): Promise<readonly InstanceRecord[]>;
}

const KEPT_MS = 1000;
const PAGE_INSTANCES = 200;

/** `nowMs`: a monotonic clock. */
export function createInstanceList(instances: Pick<Instances, 'list'>, nowMs: () => number): InstanceList {
  const kept = new SingleFlightCache<readonly InstanceRecord[]>(1, nowMs);
  return {
    list: async () => kept.get('all', async () => ({ value: await readAll(instances), ttlMs: KEPT_MS })),
  };
}

async function readAll(instances: Pick<Instances, 'list'>): Promise<InstanceRecord[]> {
  const all: InstanceRecord[] = [];
  for (let after: string | null = null; ; ) {
    const page = await instances.list({ after, limit: PAGE_INSTANCES });
    all.push(...page);
    if (page.length < PAGE_INSTANCES) return all;
    after = page.at(-1)!.name;
    await nextTurn();
  }
}
