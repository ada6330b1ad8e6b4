/** Shows records as they are after a change, so that a model need not read them by another call. */
import type { InstanceRecord } from '../instances/instances.ts';
import { mayCall } from '../policy/abilities.ts';
import { chooseShown, type Fields } from './fields.ts';
import type { Session } from './session.ts';
import { DATA_NOTE, showRecords } from './show.ts';

/** Changes of more records are not shown. */
const SHOWN_MAX = 5;

interface Written {
  instance: InstanceRecord;
  model: string;
  ids: readonly number[];
  /** The fields to show. Default: the most important ones. */
  choose?: (fields: Fields) => string[];
}

/**
 * Members of an answer: `records` and `note`, or none if the records cannot be shown. Does not reject, whatever
 * happens: the change is done, and must not look as if it had failed.
 */
export async function showWritten(
  { instance, model, ids, choose = chooseShown }: Written,
  session: Session,
): Promise<{ records?: Record<string, unknown>[]; note?: string }> {
  if (ids.length === 0 || ids.length > SHOWN_MAX || !mayCall(session.policy, model, 'read')) return {};
  try {
    const known = await session.fields(instance, model);
    const names = session.chooseFields(known, choose);
    // Odoo would read all fields.
    if (names.length === 0) return {};
    const rows = await session.call(instance, model, 'read', [ids, names], { context: { bin_size: true } });
    if (!Array.isArray(rows) || rows.length === 0) return {};
    return { records: showRecords(rows, known).records, note: DATA_NOTE };
  } catch {
    return {};
  }
}
