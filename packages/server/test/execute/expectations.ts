/**
 * Helpers of the black-box tests of the execute call: calls as JSON text (duplicate names, unusual spellings), and the
 * comparison of whole errors.
 */
import { expect } from 'vitest';
import type { HttpAnswer } from '../harness.ts';
import type { ScriptedUpstream } from '../scripted-upstream.ts';
import { pause } from '../time.ts';

export const UPSTREAM_KEY = 'upstream-key-0123456789';

/** The JSON text of `erp_instance`. Values of `changes` are JSON text. */
export function printInstance(url: string, changes: Record<string, string | null> = {}): string {
  return printObject({
    url: JSON.stringify(url),
    db: '"prod"',
    user_id: '2',
    api_key: `"${UPSTREAM_KEY}"`,
    ...changes,
  });
}

/** The JSON text of a call. Values of `changes` are JSON text; null omits a member. */
export function printCall(url: string, changes: Record<string, string | null> = {}): string {
  return printObject({
    id: '1',
    action: '"read"',
    model_id: '"res.partner"',
    params: '[[1]]',
    erp_instance: printInstance(url),
    ...changes,
  });
}

function printObject(members: Record<string, string | null>): string {
  const entries = Object.entries(members).filter(([, value]) => value !== null);
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** The whole body that Odoo must get. `params` and `keyword` are JSON text. */
export function printExecuteKw({
  model = 'res.partner',
  method = 'read',
  params = '[[1]]',
  keyword = '{}',
}: {
  model?: string;
  method?: string;
  params?: string;
  keyword?: string;
}): string {
  return `{"jsonrpc":"2.0","method":"call","params":{"service":"object","method":"execute_kw","args":["prod",2,"${UPSTREAM_KEY}","${model}","${method}",${params},${keyword}]},"id":1}`;
}

/** The bodies that reached the upstream during `run`. */
export async function collectSent(
  upstream: ScriptedUpstream,
  run: () => Promise<unknown>,
): Promise<string[]> {
  const before = upstream.requests.length;
  await run();
  return upstream.requests.slice(before).map(({ body }) => body.toString());
}

export interface ExpectedError {
  status: number;
  code: number;
  type: string;
  retryable?: boolean;
  /** The id in the answer; null by default. */
  id?: unknown;
  path?: string;
  rule?: string;
  approval?: string;
  connect_url?: string;
  outcome?: 'not_sent' | 'rolled_back' | 'unknown';
  /** Matches the message. */
  says: RegExp;
}

/** Compares the whole answer with an error of the proxy: no member is missing or additional. */
export function expectError(answer: HttpAnswer, expected: ExpectedError): void {
  expect(JSON.parse(answer.body.toString())).toEqual(describeErrorAnswer(expected));
  expect(answer.status).toBe(expected.status);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
}

/** Describes the error as one element of a batch's answer. */
export function describeErrorAnswer(expected: Omit<ExpectedError, 'status'>): unknown {
  return {
    jsonrpc: '2.0',
    id: expected.id ?? null,
    error: {
      code: expected.code,
      message: expect.stringMatching(expected.says),
      data: {
        type: expected.type,
        retryable: expected.retryable ?? false,
        ...(expected.path === undefined ? {} : { path: expected.path }),
        ...(expected.rule === undefined ? {} : { rule: expected.rule }),
        ...(expected.approval === undefined ? {} : { approval: expected.approval }),
        ...(expected.connect_url === undefined ? {} : { connect_url: expected.connect_url }),
        ...(expected.outcome === undefined ? {} : { outcome: expected.outcome }),
      },
    },
  };
}

const POLL_MS = 5;
/** Number of polls in at least 30 seconds, the time of `expect.poll`. */
const POLLS_MAX = 6000;

/** Waits until `read` returns a value. Log lines and counters are written shortly after an answer. */
export async function waitFor<T>(
  read: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const value = await read();
    if (value !== undefined && value !== false) return value;
    await pause(POLL_MS);
  }
  throw new Error('what the test waits for did not come');
}

/** A clock that the test advances. */
export function makeClock(): { now: () => number; advance: (ms: number) => void } {
  let now = Date.UTC(2026, 0, 1);
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
