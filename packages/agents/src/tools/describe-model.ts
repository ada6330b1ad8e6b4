/** `describe_model`: describes some fields of a model, found by words. */

import { mayCallAnywhere, mayUseModel } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { UNNAMED_MODEL_NEXT } from '../call-errors.ts';
import { chooseShown, describeUses, type Field, findNear, matchFields } from '../fields.ts';
import { cleanText } from '../show.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';

const FOUND_MAX = 12;
const SELECTION_MAX = 15;
const NEAR_MAX = 5;
const NEAR_HINT = 'No field matches; these names are the nearest. Or try another word.';
const NOTHING_HINT =
  'No field matches, and none has a similar name. Try another word, or leave out `query` for the main fields. The app that adds the field may not be installed.';

export const describeModel = defineTool({
  name: 'describe_model',
  title: 'Find fields of a model',
  description:
    'Finds fields of a model by words of their label, in English or the language of the user, with type, values of selections, what is required, and what can be searched, sorted and grouped. Returns a few fields, never all: ask for what you need, e.g. “phone”, “salesperson”, “status”.',
  input: z.strictObject({
    model: given.model,
    query: z
      .string()
      .max(200)
      .optional()
      .describe('Words, e.g. “delivery date”. Left out: the main and the required fields.'),
    lang: given.lang,
    instance: given.instance,
  }),
  output: z.object({
    model: z.string(),
    fields: z.array(given.record),
    others: z.int().describe('Number of fields that are not shown.'),
    hint: z.string().optional(),
  }),
  example: '{"model": "sale.order", "query": "salesperson"}',
  hints: { readOnlyHint: true },
  isOffered: (policy) => mayCallAnywhere(policy, 'fields_get'),
  async run({ model, query = '', instance }, session) {
    const target = await session.pickInstance(instance);
    const fields = await session.fields(target, model);
    if (fields === null) {
      throw new ToolError('policy_denied', `This key may not ask for the fields of ${model}.`, {
        next: mayUseModel(session.policy, model)
          ? 'Use search_records without `fields`, or ask the operator to allow `fields_get`.'
          : UNNAMED_MODEL_NEXT,
      });
    }
    const required = [...fields].filter(([, field]) => field.required === true && field.readonly !== true);
    const isQuery = query.trim() !== '';
    // Leaves out fields that the model lacks, or that the policy hides.
    const main = () => chooseShown(fields, model).filter((name) => fields.has(name));
    const names = isQuery
      ? matchFields(fields, query, FOUND_MAX)
      : [...new Set([...main(), ...required.map(([name]) => name)])].slice(0, FOUND_MAX);
    const isGuess = isQuery && names.length === 0;
    const shown = isGuess ? await findNear(fields, query, NEAR_MAX) : names;
    return {
      model,
      fields: shown.map((name) => describe(name, fields.get(name) as Field)),
      others: fields.size - shown.length,
      ...(isGuess ? { hint: shown.length > 0 ? NEAR_HINT : NOTHING_HINT } : {}),
    };
  },
});

function describe(name: string, field: Field): Record<string, unknown> {
  const { type, string, english, relation, selection, required, readonly } = field;
  return {
    name,
    label: cleanText(string),
    ...(english === undefined ? {} : { english: cleanText(english) }),
    type,
    ...(relation === undefined ? {} : { relation }),
    ...(selection === undefined ? {} : { values: describeSelection(selection) }),
    ...(required === true ? { required } : {}),
    ...(readonly === true ? { readonly } : {}),
    ...describeUses(field),
  };
}

function describeSelection(selection: NonNullable<Field['selection']>): Record<string, string> {
  return Object.fromEntries(
    selection.slice(0, SELECTION_MAX).map(([key, label]) => [cleanText(key), cleanText(label)]),
  );
}
