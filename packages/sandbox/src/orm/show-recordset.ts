/**
 * The form of a recordset in an answer, if the method is not declared to return ids (docs/odoo-facts.md#recordsets).
 */
import { Float, type Json } from '../json/value.ts';
import type { Environment } from './model.ts';

export function showRecordset({ personality }: Environment, model: string, ids: readonly Json[]): Json {
  if (personality.recordsetIsList) return ids;
  const shown = ids.map((id) => String(id instanceof Float ? id.value : id));
  return `${model}(${shown.join(', ')}${shown.length === 1 ? ',' : ''})`;
}
