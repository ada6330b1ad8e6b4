/**
 * Reads names, partner, order and state of the records that a call concerns, and who gets the mail of a message, so
 * that a person recognizes them. Reads in the name of the caller, and leaves out what the caller may not read. All
 * texts come from Odoo, and are only data. Knows no protocol.
 */

import type { ConcernedRecord, ConcernedRecords } from '@erp-proxy/contract';
import { clipText } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { type ConcernedCall, readConcerned, readRemovals } from './concerned-records.ts';

export interface ReadableField {
  readonly type: string;
  readonly relation?: string | null | undefined;
  /** The values of a selection with their labels. */
  readonly selection?: readonly (readonly [string, string])[] | undefined;
}

/** Reads in the name of the caller. Does not reject because of Odoo or of a policy. */
export interface RecordReader {
  /** The fields whose values the caller may read; null if unknown. */
  fields(model: string): Promise<ReadonlyMap<string, ReadableField> | null>;
  /** Rows in any order; null if they could not be read. Values are Odoo's, or normalized. */
  read(
    model: string,
    ids: readonly number[],
    names: readonly string[],
  ): Promise<readonly Record<string, unknown>[] | null>;
}

/** Maximum records of each part that are named. */
const NAMED_MAX = 5;
/** Maximum fields whose removed records are named. */
const REMOVED_MAX = 4;
const TEXT_LENGTH_MAX = 200;
/** Lists such as followers are read only if the call concerns at most this number of records. */
const FOLLOWED_MAX = 5;
const FOLLOWERS = 'message_partner_ids';
const PARTNER = 'res.partner';
/** Fields that are read in addition to the name, if the model has them. */
const TELLING = { partner: 'partner_id', order: 'order_id', state: 'state', stage: 'stage_id' } as const;
const TELLING_NAMES = Object.values(TELLING);

/** Names the records of each part of a call, in a fixed order of parts. */
export async function nameRecords(call: ConcernedCall, reader: RecordReader): Promise<ConcernedRecords[]> {
  const { records, dialog, partners, isMessage } = readConcerned(call);
  const named: ConcernedRecords[] = [];
  const add = async (part: ConcernedRecords['part'], model: string, ids: readonly number[]) => {
    if (ids.length > 0) named.push({ part, model, ...(await nameEach(model, ids, reader)) });
  };
  await add('records', call.model, records);
  if (dialog !== null) await add('dialog', dialog.model, dialog.ids);
  await add('partners', PARTNER, partners);
  if (isMessage) named.push(await nameFollowers(call.model, records, reader));
  for (const removed of await listRemoved(call, records, reader)) {
    const { field, model, ids } = removed;
    named.push({ part: 'removed', field, model, ...(await nameEach(model, ids, reader)) });
  }
  return named;
}

type Named = Pick<ConcernedRecords, 'count' | 'records'>;

async function nameEach(model: string, ids: readonly number[], reader: RecordReader): Promise<Named> {
  const different = [...new Set(ids)];
  const shown = different.slice(0, NAMED_MAX);
  const fields = await reader.fields(model);
  const telling = TELLING_NAMES.filter((name) => fields?.has(name));
  const rows =
    (await reader.read(model, shown, ['display_name', ...telling])) ??
    // Without the name, which can contain the value of a field that the caller may not read.
    (telling.length > 0 ? await reader.read(model, shown, telling) : null) ??
    [];
  const byId = new Map(rows.map((row) => [row['id'], row]));
  return {
    count: different.length,
    records: shown.map((id) => describe(id, byId.get(id) ?? {}, fields)),
  };
}

function describe(
  id: number,
  row: Readonly<Record<string, unknown>>,
  fields: ReadonlyMap<string, ReadableField> | null,
): ConcernedRecord {
  const read = (name: string) => printValue(row[name], fields?.get(name));
  return {
    id,
    name: printValue(row['display_name'], undefined),
    partner: read(TELLING.partner),
    order: read(TELLING.order),
    state: read(TELLING.state),
    stage: read(TELLING.stage),
  };
}

/** Prints the name of a record, or the label of an option. */
function printValue(value: unknown, field: ReadableField | undefined): string | null {
  const option = field?.selection?.find(([key]) => key === value);
  const linked = isObject(value) ? value['name'] : Array.isArray(value) ? value[1] : value;
  const text = option?.[1] ?? linked;
  return typeof text === 'string' ? cut(text) : null;
}

function cut(text: string): string {
  return clipText(text, TEXT_LENGTH_MAX);
}

/** Names the followers of the records. `count`: null if the caller may not read them. */
async function nameFollowers(
  model: string,
  ids: readonly number[],
  reader: RecordReader,
): Promise<ConcernedRecords> {
  const unknown: ConcernedRecords = { part: 'followers', model: PARTNER, count: null, records: [] };
  if (ids.length === 0 || ids.length > FOLLOWED_MAX) return unknown;
  const fields = await reader.fields(model);
  if (fields !== null && !fields.has(FOLLOWERS)) return unknown;
  const rows = await reader.read(model, ids, [FOLLOWERS]);
  if (rows === null) return unknown;
  const followers = rows.flatMap((row) => readIds(row[FOLLOWERS]));
  if (followers.length === 0) return { ...unknown, count: 0 };
  return { ...unknown, ...(await nameEach(PARTNER, followers, reader)) };
}

interface Removed {
  field: string;
  model: string;
  ids: readonly number[];
}

/** The records that the values of the call remove from lists (one2many), as far as these records are known. */
async function listRemoved(
  call: ConcernedCall,
  ids: readonly number[],
  reader: RecordReader,
): Promise<Removed[]> {
  const removals = readRemovals(call);
  if (removals.length === 0) return [];
  const fields = await reader.fields(call.model);
  const removed: Removed[] = [];
  for (const { field, deleted, cutOff, kept } of removals) {
    const { type, relation } = fields?.get(field) ?? {};
    const isLines = type === 'one2many';
    if (typeof relation !== 'string' || (!isLines && type !== 'many2many')) continue;
    const ofField = isLines && kept !== null ? await readMembers(call.model, ids, field, reader) : [];
    const others = ofField.filter((id) => kept?.includes(id) === false);
    const all = [...deleted, ...(isLines ? cutOff : []), ...others];
    if (all.length > 0) removed.push({ field, model: relation, ids: all });
    if (removed.length === REMOVED_MAX) break;
  }
  return removed;
}

/** The related records of all these records together. */
async function readMembers(
  model: string,
  ids: readonly number[],
  field: string,
  reader: RecordReader,
): Promise<number[]> {
  if (ids.length === 0 || ids.length > FOLLOWED_MAX) return [];
  const rows = await reader.read(model, ids, [field]);
  return (rows ?? []).flatMap((row) => readIds(row[field]));
}

function readIds(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((id) => Number.isSafeInteger(id)) : [];
}
