/** Prints the records that a tool has read, with their related records, as many as fit into a page. */
import type { InstanceRecord } from '@erp-proxy/control/instances';
import type { Fields } from '../fields.ts';
import { linkRecords } from '../links.ts';
import type { Session } from '../session.ts';
import { DATA_NOTE, type ShowOptions, showRecords } from '../show.ts';
import { type ReadingPlan, readRelated } from './related-records.ts';

export interface Found extends Pick<ShowOptions, 'textMax' | 'omits'> {
  model: string;
  /** The records as Odoo returned them. This function changes them. */
  rows: Record<string, unknown>[];
  /** The fields of the model; null if unknown. */
  known: Fields | null;
  plan: ReadingPlan;
}

export interface ShownRecords {
  /** The first of the rows, at least one. */
  records: Record<string, unknown>[];
  unknown_fields?: readonly string[];
  clipped?: string[];
  not_read?: Record<string, string>;
  link?: string;
  note?: string;
}

export async function showFound(
  session: Session,
  instance: InstanceRecord,
  { model, rows, known, plan, ...options }: Found,
): Promise<ShownRecords> {
  const { related, notRead, ...read } = await readRelated(session, instance, rows, plan.relations);
  const printTime = await session.timePrinter(instance);
  const { records, clipped } = showRecords(read.rows, known, { ...options, related, printTime });
  const cut = [...new Set([...clipped, ...read.clipped])];
  return {
    records,
    ...(plan.unknown.length > 0 ? { unknown_fields: plan.unknown } : {}),
    ...(cut.length > 0 ? { clipped: cut } : {}),
    ...(Object.keys(notRead).length > 0 ? { not_read: notRead } : {}),
    ...(records.length > 0 ? { link: linkRecords(instance.url, model), note: DATA_NOTE } : {}),
  };
}
