/** A Python constraint: no record is its own parent, directly or indirectly. */
import { validationError } from './fault.ts';
import type { ModelSpec } from './model.ts';

export function forbidCycles(modelName: string, message: string): NonNullable<ModelSpec['validate']> {
  return (environment, row) => {
    const seen = new Set([row['id']]);
    for (let at = row['parent_id']; at; at = environment.store.get(modelName, at as number)?.['parent_id']) {
      if (seen.has(at)) throw validationError(message);
      seen.add(at);
    }
  };
}
