/** Describes a call in one sentence. Pure. */

import {
  type ApprovalCall,
  type ApprovalView,
  type ConcernedRecord,
  type ConcernedRecords,
  cutText,
  tryParse,
} from '@erp-proxy/contract';
import { revealInvisible } from '../../parts/show-json.ts';

const NAMES_MAX = 8;
const NAME_LENGTH_MAX = 80;
const TEXT_LENGTH_MAX = 1_000_000;

export function describeCall(
  { model, action, db, user_id }: Pick<ApprovalView, 'model' | 'action' | 'db' | 'user_id'>,
  call: ApprovalCall | null,
): string {
  const where = `in the database ${clip(db)}${user_id === null ? '' : ` as user ${user_id}`}`;
  return `${describeEffect(clip(model), action, call)} ${where}.`;
}

function describeEffect(model: string, action: string, call: ApprovalCall | null): string {
  const params = readJson(call?.params);
  const keyword = readJson(call?.keyword);
  const argument = (place: number, ...names: string[]): unknown =>
    (Array.isArray(params) ? params[place] : undefined) ??
    names.map((name) => (isObject(keyword) ? keyword[name] : undefined)).find((value) => value !== undefined);

  const records = `${describeIds(argument(0, 'ids'))} of ${model}`;
  switch (action) {
    case 'unlink':
      return `Deletes ${records}`;
    case 'write':
      return `Changes ${describeMembers(argument(1, 'vals'))} of ${records}`;
    case 'create': {
      const values = argument(0, 'vals_list', 'vals');
      const count = Array.isArray(values) ? values.length : 1;
      const first: unknown = Array.isArray(values) ? values[0] : values;
      return `Creates ${count === 1 ? 'a record' : `${count} records`} of ${model} with ${describeMembers(first)}`;
    }
    case 'copy':
      return `Copies ${records}`;
    default:
      return `Calls ${clip(action)} on ${records}`;
  }
}

const PARTS: Record<ConcernedRecords['part'], string> = {
  records: 'Records',
  dialog: 'Records of the dialog',
  partners: 'Receivers that it names',
  followers: 'Followers, who can get mail',
  removed: 'Removed',
};

/** The title of a part of the records that a call concerns. */
export function describePart({ part, field, model }: ConcernedRecords): string {
  const from = field === undefined ? '' : ` from ${clip(field)}`;
  return `${PARTS[part] ?? 'Records'}${from} (${clip(model)})`;
}

/** Prints a record with the fields that the caller could read. */
export function describeRecord({ id, name, partner, order, state, stage }: ConcernedRecord): string {
  const told = Object.entries({ partner, order, state, stage }).flatMap(([member, text]) =>
    typeof text === 'string' ? [`${member} “${clip(text)}”`] : [],
  );
  const facts = [`id ${id}`, ...told].join(', ');
  return name === null ? facts : `“${clip(name)}” (${facts})`;
}

/** The text after the listed records; empty if all records are listed. */
export function describeMore({ count, records }: ConcernedRecords): string {
  if (count === null) return 'The caller may not read which.';
  const more = count - records.length;
  if (count === 0) return 'None.';
  return more > 0 ? `And ${more} more.` : '';
}

function describeIds(value: unknown): string {
  const ids = typeof value === 'number' ? [value] : value;
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id))) {
    return 'records';
  }
  const more = ids.length - NAMES_MAX;
  const listed = ids.slice(0, NAMES_MAX).join(', ');
  if (ids.length === 1) return `the record ${listed}`;
  return `the ${ids.length} records ${listed}${more > 0 ? ` and ${more} more` : ''}`;
}

function describeMembers(value: unknown): string {
  if (!isObject(value)) return 'its values';
  const names = Object.keys(value);
  if (names.length === 0) return 'nothing';
  const more = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).map(clip).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function clip(name: string): string {
  const shown = revealInvisible(cutText(name, NAME_LENGTH_MAX));
  return name.length > NAME_LENGTH_MAX ? `${shown}…` : shown;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined if the text is too long, or is not JSON. */
function readJson(text: string | undefined): unknown {
  return text === undefined || text.length > TEXT_LENGTH_MAX ? undefined : tryParse(text);
}
