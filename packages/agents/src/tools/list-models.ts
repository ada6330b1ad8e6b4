/** `list_models`: finds models that the key may read, by words. */
import { cutText } from '@erp-proxy/contract';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { listNamedModels, mayCall, restrictsModels } from '@erp-proxy/policy/abilities';
import { z } from 'zod';
import { asRows } from '../as-rows.ts';
import { explainMissingApps, KNOWN_MODELS } from '../known-models.ts';
import type { Session } from '../session.ts';
import { cleanText } from '../show.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';
import * as given from './arguments.ts';

const FOUND_MAX = 15;
const ASKED_MAX = 80;
/** Longer names of models are cut to this length. */
const NAME_LENGTH_MAX = 200;
const READING = ['search_read', 'read', 'search_count'];

export const listModels = defineTool({
  name: 'list_models',
  title: 'Find a model',
  description:
    'Finds the technical name of a kind of record, such as “invoice” or “delivery”. Not needed for res.partner (contacts, customers, vendors), sale.order (quotations, sales orders), account.move (invoices, bills), product.template (products), crm.lead (opportunities), where their app is installed.',
  input: z.strictObject({
    query: z
      .string()
      .max(200)
      .optional()
      .describe('One or two words, e.g. “invoice”. Left out: the most common models.'),
    lang: given.lang,
    instance: given.instance,
  }),
  output: z.object({
    models: z.array(z.object({ model: z.string(), name: z.string() })),
    hint: z.string().optional(),
  }),
  example: '{"query": "invoice"}',
  hints: { readOnlyHint: true },
  isOffered: () => true,
  async run({ query = '', instance }, session) {
    const target = await session.pickInstance(instance);
    const mayRead = (model: string) => READING.some((method) => mayCall(session.policy, model, method));
    const words = query
      .toLowerCase()
      .split(/[^\p{L}\p{N}._]+/u)
      .filter(Boolean)
      .map(toSingular);
    const byAll = KNOWN_MODELS.filter((row) => countWords(row, words) === words.length);
    const byAny = KNOWN_MODELS.filter((row) => countWords(row, words) > 0);
    const known = (byAll.length > 0 ? byAll : byAny).map(({ model }) => model);
    const named = listNamedModels(session.policy).filter((model) =>
      words.every((word) => model.includes(word)),
    );
    const wanted = [...new Set([...known, ...named])];
    const shown = await findByMenus(target, words, session);
    wanted.push(...shown.filter((model) => !wanted.includes(model)));
    const installed = await findInstalled(target, words, wanted, session);
    const found = (installed ?? nameKnown(wanted))
      .filter(({ model }) => mayRead(model))
      .sort((a, b) => rank(a.model, wanted) - rank(b.model, wanted) || a.model.length - b.model.length);
    const models = found.slice(0, FOUND_MAX);
    // A list that was cut may lack models that are installed.
    const isWhole = installed !== null && installed.length < (session.policyLimit ?? ASKED_MAX);
    const has = (model: string) => installed?.some((each) => each.model === model);
    // Models that the policy hides are not reported as missing either.
    const missing = isWhole
      ? explainMissingApps(wanted.filter((model) => mayRead(model) && !has(model)))
      : null;
    const isRestricted = restrictsModels(session.policy, READING);
    // For a key that may read all models, the missing app explains everything.
    const nothing = isRestricted ? NOTHING_ALLOWED_HINT : missing === null ? NOTHING_HINT : null;
    const hints = [missing, models.length === 0 ? nothing : null].filter((hint) => hint !== null);
    return { models, ...(hints.length > 0 ? { hint: hints.join(' ') } : {}) };
  },
});

const NOTHING_HINT =
  'No model matches. The key may read all models, so the app may not be installed: try another word, in English or the language of the user, else tell the user.';
const NOTHING_ALLOWED_HINT =
  'No model matches that the key may read: its policy allows only some models. Try another word, in English or the language of the user, else tell the user that the operator of the proxy must allow it, or that the app is not installed.';

/**
 * Models whose windows in Odoo have these words in their names, in the language of the user: an invoice is a journal
 * entry, but its window is called invoices. Models with several such windows come first. Empty if the key or the user
 * may not read windows.
 */
async function findByMenus(
  instance: InstanceRecord,
  words: readonly string[],
  session: Session,
): Promise<string[]> {
  if (words.length === 0 || !mayCall(session.policy, WINDOWS, 'search_read')) return [];
  const domain = words.map((word) => ['name', 'ilike', word]);
  const params = [domain, ['res_model'], 0, WINDOWS_MAX];
  try {
    const counts = new Map<string, number>();
    for (const { res_model: model } of asRows(await session.call(instance, WINDOWS, 'search_read', params))) {
      if (given.model.safeParse(model).success)
        counts.set(String(model), (counts.get(String(model)) ?? 0) + 1);
    }
    return [...counts].sort(([, a], [, b]) => b - a).map(([model]) => model);
  } catch (error) {
    if (isRefused(error)) return [];
    throw error;
  }
}

const WINDOWS = 'ir.actions.act_window';
const WINDOWS_MAX = 100;

function isRefused(error: unknown): boolean {
  return (
    error instanceof ToolError && ['policy_denied', 'access_error', 'model_not_found'].includes(error.type)
  );
}

/** Null if the key or the user may not read the list of models. */
async function findInstalled(
  instance: InstanceRecord,
  words: readonly string[],
  wanted: readonly string[],
  session: Session,
): Promise<{ model: string; name: string }[] | null> {
  if (!mayCall(session.policy, 'ir.model', 'search_read')) return null;
  const byWords = words.flatMap((word) => ['|', ['name', 'ilike', word], ['model', 'ilike', word]]);
  const conditions = [...Array(Math.max(0, words.length - 1)).fill('&'), ...byWords];
  const domain =
    words.length === 0 ? [['model', 'in', wanted]] : ['|', ['model', 'in', wanted], ...conditions];
  try {
    const rows = await session.call(instance, 'ir.model', 'search_read', [
      domain,
      ['model', 'name'],
      0,
      ASKED_MAX,
    ]);
    return asRows(rows).flatMap(({ model, name }) =>
      given.model.safeParse(model).success ? [{ model: String(model), name: showName(name) }] : [],
    );
  } catch (error) {
    if (isRefused(error)) return null;
    throw error;
  }
}

function showName(name: unknown): string {
  return typeof name === 'string' ? cleanText(cutText(name, NAME_LENGTH_MAX)) : '';
}

function nameKnown(models: readonly string[]): { model: string; name: string }[] {
  return models.map((model) => ({
    model,
    name: KNOWN_MODELS.find((row) => row.model === model)?.name ?? model,
  }));
}

/** The number of words that the name or the synonyms of the model contain. */
function countWords({ model, name, words }: (typeof KNOWN_MODELS)[number], asked: readonly string[]): number {
  const text = `${model} ${name.toLowerCase()} ${words}`;
  return asked.filter((word) => text.includes(word)).length;
}

function rank(model: string, wanted: readonly string[]): number {
  const index = wanted.indexOf(model);
  return index === -1 ? wanted.length : index;
}

function toSingular(word: string): string {
  if (word.length <= 3) return word;
  return word.replace(/ies$/, 'y').replace(/s$/, '');
}
