/** `read_records`: records by their ids. */
import { z } from 'zod';
import { mayCallAnywhere } from '../../policy/abilities.ts';
import { choosePlain } from '../fields.ts';
import { linkRecords } from '../links.ts';
import { DATA_NOTE, SINGLE_TEXT_MAX, showRecords } from '../show.ts';
import { defineTool } from '../tool.ts';
import * as given from './arguments.ts';

const IDS_MAX = 1000;
/** Those of an answer. The others are in its `rest`. */
const IDS_READ_MAX = 100;
const FIELDS_MAX = 40;

export const readRecords = defineTool({
  name: 'read_records',
  title: 'Read records',
  description:
    'Reads records whose ids are known. Without `fields` it returns what is filled in, except long texts and lists; name those in `fields`. Binary fields return their size.',
  input: z.strictObject({
    model: given.model,
    ids: given.ids(IDS_MAX),
    fields: given.fields,
    instance: given.instance,
  }),
  output: z.object({
    records: z.array(given.record),
    missing: z.array(z.int()).optional().describe('Ids that do not exist or are not visible.'),
    rest: z.array(z.int()).optional().describe('Ids that did not fit: read them by another call.'),
    clipped: given.clipped,
    link: given.link,
    note: given.note,
  }),
  example: '{"model": "res.partner", "ids": [42], "fields": ["name", "phone"]}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'read'),
  async run({ model, ids, fields, instance }, session) {
    const target = await session.pickInstance(instance);
    const known = await session.fields(target, model);
    const isChosen = fields !== undefined && fields.length > 0;
    if (isChosen) await session.checkFields(target, model, fields);
    const names = isChosen ? fields : session.chooseFields(known, (all) => choosePlain(all, FIELDS_MAX));
    const page = ids.slice(0, IDS_READ_MAX);
    const rows = await session.call(target, model, 'read', [page, names], { context: { bin_size: true } });
    const found = Array.isArray(rows) ? rows : [];
    const { records, clipped } = showRecords(found, known, {
      textMax: SINGLE_TEXT_MAX,
      omitsEmpty: !isChosen,
    });
    const foundIds = found.map((row) => Number(row?.id));
    const rest = foundIds.slice(records.length);
    // A policy can bound how many ids are read.
    const asked = session.policyLimit === null ? page : page.slice(0, session.policyLimit);
    rest.push(...ids.slice(asked.length));
    const missing = asked.filter((id) => !foundIds.includes(id));
    return {
      records,
      ...(missing.length > 0 ? { missing } : {}),
      ...(rest.length > 0 ? { rest } : {}),
      ...(clipped.length > 0 ? { clipped } : {}),
      ...(records.length > 0 ? { link: linkRecords(target.url, model), note: DATA_NOTE } : {}),
    };
  },
});
