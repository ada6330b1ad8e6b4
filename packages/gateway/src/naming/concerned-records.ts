/** Finds which records a call concerns, from its arguments. Reads no record, and knows no policy. Pure. */
import { isObject } from '@erp-proxy/json';

export interface ConcernedCall {
  readonly model: string;
  readonly method: string;
  /** The positional arguments. The first one has the ids of records. Values are Odoo's, or normalized. */
  readonly positional: readonly unknown[];
  readonly keyword: Readonly<Record<string, unknown>>;
}

export interface Concerned {
  /** Ids of the records whose method is called. */
  records: readonly number[];
  /** The records that a dialog is about. */
  dialog: { model: string; ids: readonly number[] } | null;
  /** Ids of the partners that the call names as receivers. */
  partners: readonly number[];
  /** True if followers of the records can get mail. */
  isMessage: boolean;
}

/** The records that a value removes from a list. */
export interface Removal {
  field: string;
  /** Ids of records to delete, whatever the type of the field. */
  deleted: readonly number[];
  /** Ids to take out of the list. */
  cutOff: readonly number[];
  /** Ids that stay, if all others are removed; null if the others stay, too. */
  kept: readonly number[] | null;
}

/** Maximum ids that are read of one argument. */
const IDS_MAX = 1000;
const COMMANDS_MAX = 1000;
const MODEL_NAME = /^[\w.]{1,128}$/;
/** Methods whose first positional argument is not a list of ids. */
const OF_THE_MODEL: ReadonlySet<string> = new Set(['create', 'web_save_multi', 'load', 'name_create']);
const DELETE = 2;
const UNLINK = 3;
const CLEAR = 5;
const SET = 6;

export function readConcerned({ model, method, positional, keyword }: ConcernedCall): Concerned {
  const records = OF_THE_MODEL.has(method) ? [] : readIds(positional[0] ?? keyword['ids']);
  return {
    records,
    dialog: readDialog(keyword['context'], model),
    partners: readIds(keyword['partner_ids']),
    isMessage: method === 'message_post' && !isNote(keyword),
  };
}

/** True for a note, of which followers get no mail by default. A message without a subtype is a note. */
export function isNote({ subtype_id: id, subtype_xmlid: name }: Readonly<Record<string, unknown>>): boolean {
  return !id && (!name || name === 'mail.mt_note');
}

function readDialog(context: unknown, model: string): Concerned['dialog'] {
  if (!isObject(context)) return null;
  const { active_model: of, active_id: id, active_ids: ids } = context;
  if (typeof of !== 'string' || !MODEL_NAME.test(of) || of === model) return null;
  const named = readIds(Array.isArray(ids) ? ids : id);
  return named.length > 0 ? { model: of, ids: named } : null;
}

/** Reads one id, or a list that has only ids. */
function readIds(value: unknown): readonly number[] {
  const ids = Array.isArray(value) ? value.slice(0, IDS_MAX) : [value];
  return ids.every(isId) ? ids : [];
}

function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/**
 * Reads what the values of a `write` remove from relational fields. Whether a field has such commands depends on its
 * type, which is not known here.
 */
export function readRemovals({ method, positional, keyword }: ConcernedCall): Removal[] {
  if (method !== 'write' && method !== 'web_save') return [];
  const values = positional[1] ?? keyword['vals'];
  if (!isObject(values)) return [];
  return Object.entries(values).flatMap(([field, value]) => {
    const removal = readRemoval(value);
    return removal === null ? [] : [{ field, ...removal }];
  });
}

type Removing = Omit<Removal, 'field'>;

function readRemoval(value: unknown): Removing | null {
  if (value === null || value === false) return { deleted: [], cutOff: [], kept: [] };
  const removing = Array.isArray(value) ? readCommands(value) : isObject(value) ? readWords(value) : null;
  if (removing === null) return null;
  const isEmpty = removing.deleted.length + removing.cutOff.length === 0 && removing.kept === null;
  return isEmpty ? null : removing;
}

/** Reads a relational value in normalized form. */
function readWords({ delete: deleted, remove, set, clear }: Record<string, unknown>): Removing {
  const kept = Array.isArray(set) ? readIds(set) : clear === true ? [] : null;
  return { deleted: readList(deleted), cutOff: readList(remove), kept };
}

function readList(value: unknown): readonly number[] {
  return Array.isArray(value) ? readIds(value) : [];
}

function readCommands(commands: readonly unknown[]): Removing {
  // A list of ids without commands replaces the whole list.
  if (commands.length > 0 && commands.every(isId))
    return { deleted: [], cutOff: [], kept: readIds(commands) };
  const deleted: number[] = [];
  const cutOff: number[] = [];
  let kept: readonly number[] | null = null;
  for (const command of commands.slice(0, COMMANDS_MAX)) {
    if (!Array.isArray(command)) continue;
    const [code, id, list] = command;
    if (code === DELETE && isId(id)) deleted.push(id);
    if (code === UNLINK && isId(id)) cutOff.push(id);
    if (code === CLEAR) kept = [];
    if (code === SET) kept = readList(list);
  }
  return { deleted, cutOff, kept };
}
