/** Finds what the columns of `load` change: `user_ids/login` creates and changes users, `user_ids/id` links them. */
import { decodeString, someString } from '@erp-proxy/json';
import { type Arguments, findArgument } from '../arguments.ts';
import { FILE_FIELD, findNamedRecord } from './named-records.ts';
import { ANY_MODEL, CREATE, type RelatedFindings, UNDETERMINED, WRITE } from './related-findings.ts';
import type { Typed, WrittenFields } from './written-fields.ts';

/** Imports have far fewer columns. */
const COLUMNS_MAX = 10_000;
const COLUMN_LENGTH_MAX = 1000;

export function findInColumns(
  model: string,
  call: Arguments,
  findings: RelatedFindings,
  fields: WrittenFields,
): void {
  let count = 0;
  for (const columns of findArgument(call, 0, 'fields')) {
    someString(call.bytes, columns, (start, end) => {
      const isTold = ++count <= COLUMNS_MAX && end - start <= COLUMN_LENGTH_MAX;
      if (isTold) findInPath(model, decodeString(call.bytes, { start, end }), findings, fields);
      else findings.stop(UNDETERMINED);
      return findings.isOver;
    });
  }
}

function findInPath(model: string, path: string, findings: RelatedFindings, written: WrittenFields): void {
  const names = path.split(/[/.:]/).filter((field) => field !== '');
  let owner: string | null = model;
  for (const [index, name] of names.entries()) {
    const below = names[index + 1];
    const isLink = below === undefined || below === 'id';
    if (owner !== null) {
      written.checkWritten(name, owner, { isNew: false, isOwn: false });
      const named = findNamedRecord(owner, name);
      if (named !== null) findings.stopAtRecord(name, named);
      const isFile = owner === FILE_FIELD.model && name === FILE_FIELD.name;
      if (isFile && !findings.allows(ANY_MODEL, 'write'))
        findings.stop({ names: name, by: FILE_FIELD.by, isModel: false });
    }
    if (findings.isOver) return;
    const listed = written.findListed(name, owner);
    const typed: Typed = owner === null ? 'lacking' : written.findTyped(owner, name, name);
    if (typeof typed === 'object') {
      const [create = 0, write = 0, , , link = 0] = typed.methods;
      if (findings.check(name, typed, isLink ? link : create | write)) return;
      owner = typed.relation;
      continue;
    }
    if (listed !== null && typed !== 'none') {
      const { form, model } = listed.member;
      const isChecked = form !== 'free' && !(isLink && form === 'reference');
      const methods = isLink || form === 'linked' ? WRITE : CREATE | WRITE;
      if (isChecked && findings.check(name, { relation: model, denied: listed.denied }, methods)) return;
    }
    if (findings.isOver) return;
    owner = listed?.member.model ?? null;
  }
}
