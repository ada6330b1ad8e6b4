import type { Policy } from '@erp-proxy/contract';
import type { FieldType } from '@erp-proxy/odoo/values';
import { compilePolicy } from '@erp-proxy/policy';
import { describe, expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../../server/test/measure-blocking.ts';
import type { CallContext } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import { OWN_DIALECT } from '../terms/dialect.ts';
import type { Target } from '../terms/target.ts';
import { applyFieldRules, type Finders } from './apply-field-rules.ts';
import { authorizeCall } from './authorize.ts';
import { type Call, parseBody, parseCall } from './parse.ts';

function readCall(action: string, params: unknown, keyword: object = {}): Call {
  const call = { action, model_id: 'x.0', params, keyword, erp_instance: { name: 'prod' } };
  const body = parseBody(Buffer.from(JSON.stringify(call)));
  if (body instanceof Denial) throw new Error(body.message);
  const parsed = parseCall(body.bytes, body.calls[0]!, OWN_DIALECT).call;
  if (parsed instanceof Denial) throw new Error(parsed.message);
  return parsed;
}

const LEAD: FieldType = { type: 'many2one', relation: 'x.1', related: null, inverse: null, computedFrom: [] };

/** Every field of each model leads to the next one. */
class EndlessFields extends Map<string, FieldType> {
  readonly #next: string;

  constructor(model: string) {
    super();
    this.#next = `x.${Number(model.slice(2)) + 1}`;
  }

  override get(): FieldType {
    return { ...LEAD, relation: this.#next };
  }
}

const FINDERS: Finders = {
  fields: { recall: () => null, find: async ({ model }) => ({ types: new EndlessFields(model) }) },
  orders: { find: async () => ({ orders: new Map() }) },
};

function apply(call: Call, policy: Partial<Policy>) {
  const compiled = compilePolicy({ instances: ['*'], models: { '*': ['*'] }, ...policy });
  const context = { client: { policy: compiled }, time: { signal: AbortSignal.any([]) } };
  return applyFieldRules(call, {} as Target, context as unknown as CallContext, FINDERS);
}

const manyPatterns = Array.from({ length: 950 }, (_, index) => `*x${index}q*`);

describe('a domain of very long paths does not keep the event loop', () => {
  const listConditions = (names: number, paths: number) =>
    Array.from({ length: paths }, (_, path) => [
      Array.from({ length: names }, (_, index) => `f${path}_${index}_id`).join('.'),
      '=',
      5,
    ]);

  test.each<[string, Partial<Policy>]>([
    ['with a denied field', { fields: { 'res.partner': { deny: ['vat'] } } }],
    ['with very many denied fields', { fields: { 'x.*': { deny: manyPatterns } } }],
    ['with a list of allowed fields', { fields: { 'x.*': { allow: ['f*'] } } }],
    ['without rules for fields', { models: { 'x.*': ['*'] } }],
  ])('%s', async (_, policy) => {
    for (const [names, paths, isRead] of [
      [31, 322, true],
      [5, 1990, true],
      [31, 1990, false],
    ] as const) {
      const call = readCall('search_count', [listConditions(names, paths)]);
      const check = async () => expect('call' in (await apply(call, policy))).toBe(isRead);
      expect(await measureBlocking(check), `${paths} paths of ${names} names`).toBeLessThan(BLOCKED_MS_MAX);
    }
  });
});

test.each<[string, Partial<Policy>]>([
  ['with very many denied fields', { fields: { 'x.*': { deny: manyPatterns } } }],
  ['without rules for fields', { models: { 'x.*': ['*'] } }],
])('neither does a call that is just too short for the thread: %s', async (_, policy) => {
  const prefix = Array.from({ length: 30 }, (_each, index) => `f${index}_`.padEnd(90, 'x')).join('.');
  const inner = Array.from({ length: 3900 }, (_each, index) => [`a${index % 300}`, '=', 5]);
  const short = Array.from({ length: 1990 }, (_each, index) => [`field_${index}_id`, '=', 'x']);
  for (const domain of [[[prefix, 'any', inner]], short]) {
    const call = readCall('search_count', [domain]);
    expect(call.bytes.length).toBeLessThan(64 * 1024);
    const client = { policy: compilePolicy({ instances: ['*'], models: { '*': ['*'] }, ...policy }) };
    const check = async () => {
      authorizeCall(call, client);
      await apply(call, policy);
    };
    expect(await measureBlocking(check)).toBeLessThan(BLOCKED_MS_MAX);
  }
});
