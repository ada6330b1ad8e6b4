/**
 * Tests that any call touches only what the policy names. Policies, models, commands and nesting are random, over
 * invented models and models of real servers. The oracle walks the decoded values and knows nothing of the proxy's
 * search.
 */

import { Denial, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import {
  type Call,
  checkRelatedCall,
  describeCall,
  describeRequest,
  parseBody,
  parseCall,
} from '@erp-proxy/gateway/testing';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import { readFieldTypes } from '@erp-proxy/odoo/values';
import { compilePolicy, decide } from '@erp-proxy/policy';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MODELS } from '../../../odoo/test/described-models.ts';
import { RECORDED_VERSIONS, readRecordedModels } from '../data/recorded-fields.ts';
import { countCases } from '../random-cases.ts';

type Entries = Record<string, string[]>;
type Values = Record<string, unknown>;

/** By model and field: the type, and the model of the related records. */
type Models = Record<string, Record<string, string>>;

/** Links that change rights. */
const GRANTS = ['res.groups/users', 'res.groups/implied_ids'];

const RIGHTS = ['res.groups', 'res.users', 'ir.rule', 'ir.model.access', 'ir.ui.view', 'ir.ui.menu'];

/** What commands do to other records, as `model/method`, according to docs/policies.md. */
function listTouched(models: Models, model: string, values: Values, isNew: boolean): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (name === 'activity_user_id') return ['mail.activity/write'];
    const [type, relation] = (models[model]?.[name] ?? '').split(' ');
    if (relation === undefined || type === 'many2one') return [];
    const isLines = type === 'one2many';
    // A new record has nothing to clear.
    const isCleared = (value === false || value === null) && !isNew;
    const commands = isCleared ? [[5]] : Array.isArray(value) ? value : [];
    return commands.flatMap((command: unknown) => {
      const [code, , below] = Array.isArray(command) ? command : [6];
      if (code === 5 && isNew) return [];
      const form = isLines ? 'lines' : GRANTS.includes(`${model}/${name}`) ? 'grant' : 'links';
      const touched = listTouchedBy(code as number, relation, form);
      if (name === 'message_partner_ids' && code !== 1) touched.push('mail.followers/write');
      const isNested = code === 0 || code === 1;
      return isNested ? [...touched, ...listTouched(models, relation, below as Values, code === 0)] : touched;
    });
  });
}

function listTouchedBy(code: number, relation: string, form: 'lines' | 'grant' | 'links'): string[] {
  if (code < 3) return [`${relation}/${['create', 'write', 'unlink'][code]}`];
  if (form === 'links') return [`${relation}/read`];
  return code === 4 || form === 'grant' ? [`${relation}/write`] : [`${relation}/write`, `${relation}/unlink`];
}

/** Whether the policy lets a direct call of the key do this. */
function isNamed(entries: Entries, touched: string): boolean {
  const [model = '', method = ''] = touched.split('/');
  // Some links to records of these models change rights. They need the right to change the record instead.
  if (method === 'read' && RIGHTS.includes(model) && isNamed(entries, `${model}/write`)) return true;
  const some = (isAllowed: (pattern: string, methods: string[]) => boolean) =>
    Object.entries(entries).some(([pattern, methods]) => isAllowed(pattern, methods));
  if (findSensitivity(model, method) !== null)
    return some((pattern, methods) => pattern === model && methods.includes(method));
  const family = `${model.split('.')[0]}.*`;
  return some(
    (pattern, methods) =>
      [model, family, '*'].includes(pattern) && (methods.includes(method) || methods.includes('*')),
  );
}

function drawPolicies(models: Models): fc.Arbitrary<Entries> {
  const relations = Object.values(models).flatMap((fields) =>
    Object.values(fields).flatMap((text) => text.split(' ').slice(1)),
  );
  const names = [...new Set([...Object.keys(models), ...relations])];
  return fc.dictionary(
    fc.constantFrom(...names, 'sale.*', 'mail.*', 'res.*', 'x.*', '*'),
    fc.uniqueArray(fc.constantFrom('create', 'write', 'unlink', 'read', '*'), { minLength: 1, maxLength: 4 }),
    { minKeys: 4, maxKeys: 16 },
  );
}

/** Draws the values of a record of the model, with at most this number of levels of commands. */
function drawValues(models: Models, model: string, levels: number): fc.Arbitrary<Values> {
  const names = Object.keys(models[model] ?? {});
  if (names.length === 0 || levels === 0) return fc.constant({ name: 'a' });
  return fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
    .chain((chosen) =>
      fc.record(Object.fromEntries(chosen.map((name) => [name, drawValue(models, model, name, levels)]))),
    );
}

function drawValue(models: Models, model: string, name: string, levels: number): fc.Arbitrary<unknown> {
  const [type, relation] = models[model]![name]!.split(' ');
  const scalar = fc.constantFrom<unknown>('a', 5, true, ['a', [1, 2]], { name: [[5]] });
  if (relation === undefined || type === 'many2one') return scalar;
  const command = fc.oneof(
    drawValues(models, relation, levels - 1).map((values) => [0, 0, values]),
    drawValues(models, relation, levels - 1).map((values) => [1, 7, values]),
    fc.constantFrom<unknown>([2, 7], [3, 7, 0], [4, 7], [5], [6, 0, [7, 8]]),
  );
  const commands = fc.array(command, { minLength: 1, maxLength: 2 });
  return fc.oneof({ weight: 6, arbitrary: commands }, fc.constantFrom<unknown>([7, 8], false, null));
}

interface Drawn {
  model: string;
  method: string;
  form: 'placed' | 'named' | 'default';
  values: Values;
}

function drawCalls(models: Models): fc.Arbitrary<Drawn> {
  return fc
    .record({
      model: fc.constantFrom(...Object.keys(models)),
      method: fc.constantFrom('create', 'write', 'web_save', 'copy'),
      form: fc.constantFrom('placed' as const, 'named' as const, 'default' as const),
    })
    .chain((drawn) => drawValues(models, drawn.model, 3).map((values) => ({ ...drawn, values })));
}

const ARGUMENTS: Record<string, string> = { create: 'vals_list', copy: 'default' };

function print({ model, method, form, values }: Drawn): Call {
  const ids = method === 'create' ? [] : [[1]];
  const defaults = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`default_${name}`, value]),
  );
  const [params, keyword] = {
    placed: [[...ids, values], {}],
    named: [ids, { [ARGUMENTS[method] ?? 'vals']: values }],
    default: [[...ids, {}], { context: defaults }],
  }[form] as [unknown[], object];
  const erp_instance = { url: 'https://erp.example.com', db: 'prod', user_id: 2, api_key: 'x' };
  const text = JSON.stringify({ action: method, model_id: model, params, keyword, erp_instance });
  const body = parseBody(Buffer.from(text));
  if (body instanceof Denial) throw new Error(body.message);
  const { call } = parseCall(body.bytes, body.calls[0]!, OWN_DIALECT);
  if (call instanceof Denial) throw new Error(call.message);
  return call;
}

/** The message that denies the call; null: the call is sent. */
function check(models: Models, entries: Entries, call: Call): string | null {
  const policy = compilePolicy({ origins: ['https://erp.example.com'], models: entries });
  const request = describeRequest(describeCall(call));
  if (request instanceof Denial) return request.message;
  const decision = decide(policy, request);
  if (!decision.allowed) return decision.message;
  const types = new Map();
  const asked = new Map();
  if (decision.lacksTypes !== true) return null;
  for (;;) {
    const decision = checkRelatedCall(call, policy, { types, asked });
    if (decision instanceof Denial) return decision.message;
    if (decision.lacking.size === 0) return null;
    for (const [model, names] of decision.lacking) {
      types.set(model, readFieldTypes(Buffer.from(describeFields(models, model))));
      asked.set(model, new Set([...(asked.get(model) ?? []), ...names]));
    }
  }
}

/** The answer of `fields_get`, as JSON. */
function describeFields(models: Models, model: string): string {
  const fields = Object.entries(models[model] ?? {}).map(([name, text]) => {
    const [type, relation] = text.split(' ');
    return [name, { type, ...(relation !== undefined && { relation }) }];
  });
  return JSON.stringify(Object.fromEntries(fields));
}

/** The fields that lead to records, of models as a server describes them. */
function readModels(version: string): Models {
  const models: Models = {};
  for (const [model, fields] of readRecordedModels(version)) {
    // The proxy itself refuses a `default_company_id` that is no id.
    const leading = [...fields].filter(
      ([name, { relation }]) => relation !== undefined && name !== 'company_id',
    );
    models[model] = Object.fromEntries(
      leading.map(([name, { type, relation }]) => [name, `${type} ${relation}`]),
    );
  }
  return models;
}

const listAll = (models: Models, { model, method, form, values }: Drawn) =>
  listTouched(models, model, values, method === 'create' || form === 'default');

const SOURCES: [string, Models][] = [
  ['invented models', MODELS],
  ...RECORDED_VERSIONS.map((version): [string, Models] => [`models of Odoo ${version}`, readModels(version)]),
];

describe.each(SOURCES)('%s', (_, models) => {
  test('whatever is sent touches only what the policy names', () => {
    const seen = { sent: 0, denied: 0 };
    fc.assert(
      fc.property(drawPolicies(models), drawCalls(models), (entries, drawn) => {
        const touched = listAll(models, drawn);
        const own: Entries = { ...entries, [drawn.model]: [...(entries[drawn.model] ?? []), drawn.method] };
        // About half of the policies name everything that the call touches, the others all but one.
        const names = touched.slice(0, touched.length - (Object.keys(entries).length % 2));
        for (const pair of names) {
          const [model = '', method = ''] = pair.split('/');
          own[model] = [...(own[model] ?? []), method];
        }
        const denied = check(models, own, print(drawn));
        const unnamed = touched.filter((pair) => !isNamed(own, pair));
        if (denied === null) expect(unnamed).toEqual([]);
        if (touched.length > 0) seen[denied === null ? 'sent' : 'denied']++;
      }),
      { numRuns: countCases(20_000) },
    );
    expect(Math.min(seen.sent, seen.denied)).toBeGreaterThan(100);
  });
});

/** The `message_ids` of a new order: only the types of the fields around the list show that the order is new. */
const CLEARS_BEFORE_TYPES: Drawn = {
  model: 'crm.tag',
  method: 'create',
  form: 'placed',
  values: { lead_ids: [[1, 7, { order_ids: [[0, 0, { message_ids: [[5], [1, 7, { name: 'a' }]] }]] }]] },
};

test('a policy that names all that a call touches allows it', () => {
  fc.assert(
    fc.property(drawCalls(MODELS), (drawn) => {
      // A default can be a value of another model, which only its name shows.
      fc.pre(drawn.form !== 'default');
      const entries: Entries = { [drawn.model]: [drawn.method] };
      // Users to whom a task is assigned follow it, which only the name of the field shows.
      entries['mail.followers'] = [...(entries['mail.followers'] ?? []), 'write'];
      for (const pair of listAll(MODELS, drawn)) {
        const [model = '', method = ''] = pair.split('/');
        entries[model] = [...new Set([...(entries[model] ?? []), method])];
      }
      expect(check(MODELS, entries, print(drawn))).toBeNull();
    }),
    { numRuns: countCases(5000), examples: [[CLEARS_BEFORE_TYPES]] },
  );
});
