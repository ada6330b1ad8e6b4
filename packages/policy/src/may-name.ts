/** Whether the proxy may name a model or a field to a key, for example as a suggestion. Pure. */

import { FieldCheck, NOTHING_KNOWN } from './check-fields.ts';
import type { CompiledPolicy } from './compile.ts';

/** `compiled` null: the key has no policy. */
export function mayNameModel(compiled: CompiledPolicy | null, model: string): boolean {
  return compiled === null || compiled.models.some(({ matches }) => matches(model));
}

/**
 * Whether a call of the key may use the field. Fields that Odoo declares as related to a denied field count as allowed
 * here, because only the server knows them.
 */
export function mayNameField(compiled: CompiledPolicy | null, model: string, field: string): boolean {
  if (!mayNameModel(compiled, model)) return false;
  const rules = compiled?.fields ?? null;
  return (
    rules === null ||
    new FieldCheck(rules, NOTHING_KNOWN).check(model, { path: [field], tail: null }) === null
  );
}
