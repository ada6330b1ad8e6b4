/** Shows records in their state after a change, so that a model need not read them by another call. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { mayCall } from '@erp-proxy/policy/abilities';
import { asRecords, pickMembers } from './as-rows.ts';
import { chooseShown } from './fields.ts';
import type { Session } from './session.ts';
import { DATA_NOTE, showRecords } from './show.ts';

/** Maximum changed records that are shown. */
const SHOWN_MAX = 5;

interface Written {
  instance: InstanceRecord;
  model: string;
  ids: readonly number[];
  /** Fields to show in addition to the most important ones. */
  set?: readonly string[];
  /** True to show only the name and the fields that were set. */
  isUpdate?: boolean;
}

/**
 * Returns members of an answer: `records` and `note`, or none if the records cannot be shown. Never rejects: the change
 * is made, and must not look as if it had failed.
 */
export async function showWritten(
  { instance, model, ids, set = [], isUpdate = false }: Written,
  session: Session,
): Promise<{ records?: Record<string, unknown>[]; note?: string }> {
  if (ids.length === 0 || ids.length > SHOWN_MAX || !mayCall(session.policy, model, 'read')) return {};
  try {
    const known = await session.fields(instance, model);
    const setsLines = set.some((name) => known?.get(name)?.type === 'one2many');
    const names = session.chooseFields(known, (fields) => {
      // More is shown if totals may have changed by lines, or if a method may have archived the record.
      const shown = isUpdate && !setsLines ? ['display_name'] : chooseShown(fields, model);
      const archived = isUpdate ? [] : ['active'];
      return [...new Set([...shown, ...archived, ...set])].filter((name) => fields.has(name));
    });
    // Without names, Odoo would read all fields.
    if (names.length === 0) return {};
    const rows = await session.call(instance, model, 'read', [ids, names], { context: { bin_size: true } });
    const written = pickMembers(asRecords(rows, ids), names);
    if (written.length === 0) return {};
    // `active: true` is left out, because most records are active.
    if (!set.includes('active')) for (const row of written) if (row['active'] === true) delete row['active'];
    const printTime = await session.timePrinter(instance);
    return {
      records: showRecords(written, known, { omits: isUpdate ? 'nothing' : 'null', printTime }).records,
      note: DATA_NOTE,
    };
  } catch {
    return {};
  }
}
