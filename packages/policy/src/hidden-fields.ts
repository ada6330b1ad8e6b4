/**
 * Determines the fields that a policy hides because they hold credentials: those that no entry of `fields` allows by
 * name. Pure.
 */
import type { Policy } from '@erp-proxy/contract';
import { listCredentialFields } from '@erp-proxy/odoo/sensitive';

const NONE: ReadonlySet<string> = new Set();

/** Returns the hidden fields of a model. An entry allows a field if it names the model and the field without `*`. */
export function compileHiddenFields(
  rules: NonNullable<Policy['fields']>,
): (model: string) => ReadonlySet<string> {
  const table = listCredentialFields();
  const changed = new Map<string, ReadonlySet<string>>();
  for (const [model, rule] of Object.entries(rules)) {
    const fields = table.get(model);
    if (fields === undefined || !('allow' in rule)) continue;
    changed.set(model, fields.difference(new Set(rule.allow)));
  }
  return (model) => changed.get(model) ?? table.get(model) ?? NONE;
}
