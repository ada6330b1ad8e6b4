/** Which methods of the ORM have the same effect on the records of a call as its own method. Knows no policy. */
import { isEmptyArray } from '../json/empty-array.ts';
import { type Arguments, findArgument, isLeftOut } from './arguments.ts';

/** The methods of other names that create and write records of their own model by values of the call. */
const EQUIVALENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['copy', ['create']],
  ['name_create', ['create']],
  ['load', ['create', 'write']],
  ['web_save', ['create', 'write']],
  ['web_save_multi', ['write']],
  ['web_resequence', ['write']],
  ['action_archive', ['write']],
  ['action_unarchive', ['write']],
  ['toggle_active', ['write']],
  ['update_field_translations', ['write']],
  ['web_override_translations', ['write']],
]);

/** `create` and `write`, as far as the method does the same. `call` null: the arguments are not known. */
export function listEquivalents(method: string, call: Arguments | null): readonly string[] {
  const all = EQUIVALENTS.get(method) ?? [];
  if (method !== 'web_save' || call === null) return all;
  // It creates a record if it has no ids.
  const ids = findArgument(call, 0, 'ids');
  if (ids.every((each) => isLeftOut(each) || isEmptyArray(call.bytes, each))) return ['create'];
  return ids.every(({ kind }) => kind === 'array') && ids.length === 1 ? ['write'] : all;
}
