/** Tests that the outcome of a call is that of `/jsonrpc` to the last byte, whatever protocol carries it. */
import type { Sandbox, Version } from '@erp-proxy/sandbox';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Proxy as RunningProxy } from '../harness.ts';
import { type Operation, operations } from './operations.ts';
import {
  describeKind,
  describeOutcome,
  openProxy,
  openSandbox,
  printOperation,
  readProtocol,
  readTable,
} from './stage.ts';

// The sandbox adds timestamps to writes. With a stopped clock two runs have the same bytes.
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-12-01T10:00:00Z') });
});
afterAll(() => {
  vi.useRealTimers();
});

/** The outcome for the caller, and the rows that the call left in the model's table. */
async function run(sandbox: Sandbox, proxy: RunningProxy, operation: Operation) {
  sandbox.reset();
  const answer = await proxy.post(printOperation(sandbox, operation));
  const isLarge = operation.model.startsWith('ir.model');
  const left = isLarge ? null : await readTable(sandbox, operation.model);
  return { kind: describeKind(answer), outcome: describeOutcome(answer), left };
}

const NAMES_UNKNOWN = 'nobody tells the names of its arguments, or whether it is there';
const NO_IDS = 'what /jsonrpc makes of such ids is not certain';

/** Calls with another outcome if there is no /jsonrpc: the type of the error, and why. None of them runs. */
const WITHOUT_JSONRPC: Record<string, [type: string, why: string]> = {
  'find_or_create: who may not read the doc page': ['invalid_params', 'the user may not read the doc page'],
  'a private method with a mistake': ['invalid_params', NAMES_UNKNOWN],
  'read: ids as text': ['invalid_params', NO_IDS],
  'read: null for ids': ['invalid_params', NO_IDS],
  'read: false for ids': ['invalid_params', NO_IDS],
  'read: a float for ids': ['invalid_params', NO_IDS],
  'read: an object for ids': ['invalid_params', NO_IDS],
  'write: vals in place of ids': ['invalid_params', NO_IDS],
  'message_post: body by position': ['invalid_params', 'its first positional arguments have no names'],
  'the password in place of the key': ['access_denied', 'json2 takes keys only'],
  'a user that there is not': ['access_denied', 'another exception: json2 knows no user but the key’s'],
  'a database that is not of Odoo': ['database_missing', 'another exception: json2 shows it to nobody'],
};

const STARTED_AT = Date.now();
/** Two runs of one call are compared, so timestamps must not differ. */
const STANDING_CLOCK = () => STARTED_AT;

/**
 * Calls that `auto` sends over /jsonrpc if available, although /json/2 could carry them: the errors of /jsonrpc are
 * more exact.
 */
const isLeftToJsonrpc = ({ outcome }: Awaited<ReturnType<typeof run>>) =>
  ['arguments_invalid', 'access_denied', 'database_missing', 'method_not_found', 'model_not_found'].includes(
    (outcome as { type?: string }).type ?? '',
  );

const odoo19 = await openSandbox({ version: 19, clock: STANDING_CLOCK });
const jsonrpc = await openProxy([odoo19], 'jsonrpc');
const references = new Map<Operation, ReturnType<typeof run>>();

/** The outcome over `/jsonrpc` on Odoo 19, with which all others are compared. */
function runReference(operation: Operation): ReturnType<typeof run> {
  const reference = references.get(operation) ?? run(odoo19, jsonrpc, operation);
  references.set(operation, reference);
  return reference;
}

describe('on Odoo 19', async () => {
  const auto = await openProxy([odoo19], 'auto');

  test.each(operations)('auto gives the outcome of /jsonrpc: $name', async (operation) => {
    const expected = await runReference(operation);
    expect(await run(odoo19, auto, operation)).toEqual(expected);
    const protocol = await readProtocol(auto);
    if (protocol === 'jsonrpc' && WITHOUT_JSONRPC[operation.name] === undefined)
      expect(isLeftToJsonrpc(expected)).toBe(true);
  });
});

describe.each<[string, Version, 'auto' | 'json2']>([
  ['json2 alone, on Odoo 19', 19, 'json2'],
  ['auto, on Odoo 22', 22, 'auto'],
])('%s', async (_, version, protocol) => {
  const sandbox = await openSandbox({ version, clock: STANDING_CLOCK });
  const proxy = await openProxy([sandbox], protocol);

  test.each(operations)(
    'gives the outcome of /jsonrpc on 19, or an explanation: $name',
    async (operation) => {
      const expected = await runReference(operation);
      const got = await run(sandbox, proxy, operation);
      const different = WITHOUT_JSONRPC[operation.name];
      if (different === undefined) {
        expect(got).toEqual(expected);
      } else {
        expect(got).not.toEqual(expected);
        expect(got.outcome).toMatchObject({ type: different[0] });
        // Whatever the error is, the call has changed nothing.
        sandbox.reset();
        expect(got.left).toEqual(
          operation.model.startsWith('ir.model') ? null : await readTable(sandbox, operation.model),
        );
      }
    },
  );
});

/** Operations with another outcome in older versions: the versions, the type of the error or `ok`, and why. */
const OLDER: Record<string, [versions: number[], kind: string, why: string]> = {
  'recorded: copy-two': [
    [14, 15, 16, 17],
    'arguments_invalid',
    'copies one record (docs/odoo-facts.md#copy-result)',
  ],
  'recorded: default-get-product-template': [
    [18],
    'arguments_invalid',
    'a record method by mistake (docs/odoo-facts.md#default-get-18)',
  ],
  'recorded: error-search-id-out-of-range': [
    [14, 15, 16, 17, 18],
    'arguments_invalid',
    'PostgreSQL refuses it (docs/odoo-facts.md#read-result)',
  ],
  'recorded: error-user-error-confirm-twice': [[14, 15, 16], 'ok', 'docs/odoo-facts.md#business-methods'],
  'action_confirm: confirmed already': [[14, 15, 16], 'ok', 'docs/odoo-facts.md#business-methods'],
  'recorded: has-group': [
    [14, 15, 16, 17],
    'arguments_invalid',
    'a method of the model (docs/odoo-facts.md#parameters)',
  ],
  has_group: [[14, 15, 16, 17], 'arguments_invalid', 'a method of the model (docs/odoo-facts.md#parameters)'],
  'recorded: read-id-string': [[14, 15, 16], 'arguments_invalid', 'docs/odoo-facts.md#faults-16'],
  'read: ids as text': [[14, 15, 16], 'arguments_invalid', 'docs/odoo-facts.md#faults-16'],
  'recorded: search-count-kwarg': [[14, 15, 16], 'ok', 'docs/odoo-facts.md#parameters'],
  'recorded: types-reference-json-html': [
    [14, 15],
    'query_invalid',
    'no properties (docs/odoo-facts.md#values)',
  ],
  'message_post: an unknown argument': [[14, 15, 16], 'ok', 'ignored (docs/odoo-facts.md#posted-html)'],
  'search: too many by position': [
    [14, 15, 16],
    'ok',
    'the fifth is `count` (docs/odoo-facts.md#parameters)',
  ],
  'search: an operator that any takes': [[14, 15, 16], 'query_invalid', 'docs/odoo-facts.md#domain-any'],
  'recorded: search-count-limit': [
    [14, 15],
    'arguments_invalid',
    'takes no limit (docs/odoo-facts.md#parameters)',
  ],
  'search_count: by position': [
    [14, 15],
    'arguments_invalid',
    'takes no limit (docs/odoo-facts.md#parameters)',
  ],
  'search_read: load through kwargs': [
    [14],
    'arguments_invalid',
    'takes no others (docs/odoo-facts.md#parameters)',
  ],
  'search_read: an unknown argument through kwargs': [
    [14],
    'arguments_invalid',
    'takes no others (docs/odoo-facts.md#parameters)',
  ],
  'search_read: nothing found and an unknown argument': [
    [14],
    'arguments_invalid',
    'takes no others (docs/odoo-facts.md#parameters)',
  ],
  'message_post: body by position': [
    [14, 15],
    'ok',
    'takes it by position too (docs/odoo-facts.md#parameters)',
  ],
  'recorded: search-read-context-lang-tz': [
    [14, 15, 16, 17],
    'ok',
    'an unknown language is ignored (docs/odoo-facts.md#unknown-lang)',
  ],
  'read: context with an unknown language': [
    [14, 15, 16, 17],
    'ok',
    'an unknown language is ignored (docs/odoo-facts.md#unknown-lang)',
  ],
  'recorded: types-many2one-false-date': [
    [14, 15, 16],
    'query_invalid',
    'has no field `locked` (docs/odoo-facts.md#business-methods)',
  ],
  'recorded: web-read-group': [
    [14, 15, 16, 17, 18],
    'arguments_invalid',
    'other parameters (docs/odoo-facts.md#parameters)',
  ],
  'web_search_read: specification missing': [
    [14, 15, 16],
    'ok',
    'other parameters (docs/odoo-facts.md#parameters)',
  ],
};

describe.each([14, 15, 16, 17, 18] as const)('auto, on Odoo %i', async (version) => {
  const sandbox = await openSandbox({ version, clock: STANDING_CLOCK });
  const proxy = await openProxy([sandbox], 'auto');

  test.each(operations)('the same body has the same outcome: $name', async (operation) => {
    sandbox.reset();
    const { kind: there } = await runReference(operation);
    const here = describeKind(await proxy.post(printOperation(sandbox, operation)));
    const isInOneOnly = [there, here].includes('method_not_found');
    const [versions, kind] = OLDER[operation.name] ?? [[], ''];
    if (!isInOneOnly) expect(here).toBe((versions as number[]).includes(version) ? kind : there);
    expect(sandbox.requests.routes).toEqual({ '/jsonrpc': expect.any(Number) });
  });
});
