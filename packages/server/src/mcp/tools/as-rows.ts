/** The records or groups in a result of Odoo. */
import { isObject } from '../../json/is-object.ts';

export function asRows(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
