/** Says in one sentence what a call would do. Pure. */
import type { ApprovalCall, ApprovalView } from '@erp-proxy/contract';
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
  const shown = revealInvisible(name.slice(0, NAME_LENGTH_MAX));
  return name.length > NAME_LENGTH_MAX ? `${shown}…` : shown;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined: it is too long, or cannot be read. */
function readJson(text: string | undefined): unknown {
  if (text === undefined || text.length > TEXT_LENGTH_MAX) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
