/** Whether the proxy may name a model or a field to a key, for example as a suggestion. Pure. */
import type { CompiledPolicy } from './compile.ts';
import { FieldJudge, NOTHING_KNOWN } from './judge-fields.ts';

/** `compiled` null: the key has no policy. */
export function mayNameModel(compiled: CompiledPolicy | null, model: string): boolean {
  return compiled === null || compiled.models.some(({ matches }) => matches(model));
}

/**
 * Whether a call of the key may use the field. Fields that Odoo declares as related to a denied one count as allowed
 * here, because only the server knows them.
 */
export function mayNameField(compiled: CompiledPolicy | null, model: string, field: string): boolean {
  if (!mayNameModel(compiled, model)) return false;
  const rules = compiled?.fields ?? null;
  return (
    rules === null ||
    new FieldJudge(rules, NOTHING_KNOWN).judge(model, { path: [field], tail: null }) === null
  );
}
