/** Stored instances in memory. */

import type {
  AuditBatch,
  ChangeListener,
  InstanceListQuery,
  InstanceStore,
  StoredInstance,
} from '../ports.ts';
import { compareCodePoints, containsInAnyCase } from './text.ts';

export function createMemoryInstances(
  tell: ChangeListener,
  appendAct: (act: AuditBatch | undefined) => void,
): InstanceStore {
  const instances = new Map<string, StoredInstance>();

  function findByName(name: string): StoredInstance | null {
    for (const instance of instances.values()) if (instance.name === name) return { ...instance };
    return null;
  }

  return {
    insert({ id, name, masterKeyId, body }, act) {
      if (findByName(name)) return 'conflict';
      if (instances.has(id)) throw new Error(`An instance with the id ${id} exists already.`);
      instances.set(id, { id, name, masterKeyId, body, version: 1 });
      appendAct(act);
      tell({ kind: 'instance', id: name });
      return 'done';
    },
    findByName,
    list(query) {
      return [...instances.values()]
        .filter((instance) => isListed(instance, query))
        .sort((a, b) => compareCodePoints(a.name, b.name))
        .slice(0, query.limit)
        .map((instance) => ({ ...instance }));
    },
    replace(id, version, { masterKeyId, body }, act) {
      const instance = instances.get(id);
      if (!instance) return 'missing';
      if (instance.version !== version) return 'conflict';
      instances.set(id, { ...instance, masterKeyId, body, version: version + 1 });
      appendAct(act);
      tell({ kind: 'instance', id: instance.name });
      return 'done';
    },
    remove(id, version, act) {
      const instance = instances.get(id);
      if (!instance) return 'missing';
      if (instance.version !== version) return 'conflict';
      instances.delete(id);
      appendAct(act);
      tell({ kind: 'instance', id: instance.name });
      return 'done';
    },
    countByMasterKey() {
      const counts = new Map<string, number>();
      for (const { masterKeyId } of instances.values()) {
        counts.set(masterKeyId, (counts.get(masterKeyId) ?? 0) + 1);
      }
      return counts;
    },
  };
}

function isListed({ name, body }: StoredInstance, { after, search }: InstanceListQuery): boolean {
  return (
    (after === null || compareCodePoints(name, after) > 0) &&
    (search === undefined || containsInAnyCase([name, body], search))
  );
}
