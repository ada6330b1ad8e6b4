/** `read_records`: reads records by their ids. */

import type { InstanceRecord } from '@erp-proxy/control/instances';
import { mayCallAnywhere } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRecords, asRows, pickMembers } from '../as-rows.ts';
import { chooseOthers, choosePlain, type Fields } from '../fields.ts';
import type { Session } from '../session.ts';
import { isUnset, SINGLE_TEXT_MAX } from '../show.ts';
import { readTextPart } from '../text-parts.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';
import { planReading } from './related-records.ts';
import { showFound } from './show-found.ts';

const IDS_MAX = 1000;
const TEXT_TYPES = new Set(['char', 'text', 'html']);
/** Maximum ids that one answer reads. The remaining ids are in its `rest`. */
const IDS_READ_MAX = 100;
const FIELDS_MAX = 40;
/** Maximum records whose other fields are checked for values. */
const IDS_LOOKED_AT_MAX = 10;
const OTHERS_READ_MAX = 100;
const OTHERS_MAX = 30;

export const readRecords = defineTool({
  name: 'read_records',
  title: 'Read records',
  description:
    'Reads records whose ids are known. Without `fields`, absent fields are empty, false or 0; `not_shown` lists others that are filled in: ask for them by `fields`. Binary fields return their size.',
  input: z.strictObject({
    model: given.model,
    ids: given.ids(IDS_MAX),
    fields: given.fieldPaths('what is filled in, except long texts and lists'),
    offset: z
      .int()
      .nonnegative()
      .optional()
      .describe('Where a long text is read on: `next` of the previous answer. For one id and one field.'),
    lang: given.lang,
    instance: given.instance,
    instances: given.instances,
  }),
  output: z.object({
    records: z.array(given.record),
    missing: z.array(z.int()).optional().describe('Ids that do not exist or are not visible.'),
    rest: z.array(z.int()).optional().describe('Ids that did not fit: read them by another call.'),
    next: z.int().optional().describe('The text goes on: send this as `offset`.'),
    not_shown: z.array(z.string()).optional().describe('Further fields that are filled in.'),
    unknown_fields: given.unknownFields,
    clipped: given.clipped,
    not_read: given.notRead,
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "res.partner", "ids": [42], "fields": ["name", "phone"]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'read'),
  async run({ model, ids, fields = [], offset = 0, instance }, session) {
    const target = await session.pickInstance(instance);
    const plan = await planReading(session, target, model, fields);
    const known = await session.fields(target, model);
    const isChosen = fields.length > 0;
    const names = isChosen
      ? plan.names
      : session.chooseFields(known, (all) => choosePlain(all, model, FIELDS_MAX));
    const page = ids.slice(0, IDS_READ_MAX);
    const context = { bin_size: true };
    const found = asRecords(await session.call(target, model, 'read', [page, names], { context }), page);
    const rows = pickMembers(found, names);
    // The policy may have bounded how many ids were read.
    const asked = session.policyLimit === null ? page : page.slice(0, session.policyLimit);
    const foundIds = rows.map(({ id }) => id);
    const part = readLongText(rows, names, known, offset);
    if (part === null && offset > 0) {
      throw new ToolError('invalid_params', '`offset` needs one id and one field with a text.', {
        next: `Send arguments such as {"model": "${model}", "ids": [42], "fields": ["…"], "offset": ${offset}}.`,
      });
    }
    const { records, ...more } = await showFound(session, target, {
      model,
      rows: part?.rows ?? rows,
      // Without types, because a part of HTML is converted to text already.
      known: part === null ? known : null,
      plan,
      textMax: part === null ? SINGLE_TEXT_MAX : Number.POSITIVE_INFINITY,
      omits: isChosen ? 'nothing' : 'unset',
    });
    const shownIds = foundIds.slice(0, records.length);
    const rest = [...foundIds.slice(records.length), ...ids.slice(asked.length)];
    const missing = asked.filter((id) => !foundIds.includes(id));
    const notShown = isChosen ? [] : await findOthers(session, target, model, shownIds, names);
    return {
      records,
      ...(missing.length > 0 ? { missing } : {}),
      ...(rest.length > 0 ? { rest } : {}),
      ...(part === null || part.next === null ? {} : { next: part.next, clipped: names }),
      ...(notShown.length > 0 ? { not_shown: notShown } : {}),
      ...more,
    };
  },
});

/** A part of the text, if the answer is one record with one text field; null otherwise. */
function readLongText<Row extends Record<string, unknown>>(
  rows: readonly Row[],
  names: readonly string[],
  known: Fields | null,
  offset: number,
): { rows: Row[]; next: number | null } | null {
  const [row] = rows;
  const [name] = names;
  if (row === undefined || name === undefined || rows.length > 1 || names.length > 1) return null;
  const type = known?.get(name)?.type;
  const value = row[name];
  if (typeof value !== 'string' || !TEXT_TYPES.has(type ?? '')) return null;
  const { text, next } = readTextPart(value, offset, SINGLE_TEXT_MAX, type === 'html');
  const shown = next === null ? text : `${text.trimEnd()}… (${value.length} characters)`;
  return { rows: [{ ...row, [name]: shown }], next };
}

/** Other fields that have values. Empty if they cannot be read in one call: they are not essential. */
async function findOthers(
  session: Session,
  instance: InstanceRecord,
  model: string,
  ids: readonly number[],
  chosen: readonly string[],
): Promise<string[]> {
  const known = await session.fields(instance, model);
  if (known === null || ids.length === 0 || ids.length > IDS_LOOKED_AT_MAX) return [];
  const names = session.chooseFields(known, (all) => chooseOthers(all, chosen, OTHERS_READ_MAX));
  if (names.length === 0) return [];
  try {
    const context = { bin_size: true };
    const rows = asRows(await session.call(instance, model, 'read', [ids, names], { context }));
    return names.filter((name) => rows.some((row) => !isUnset(name, row[name], null))).slice(0, OTHERS_MAX);
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}
