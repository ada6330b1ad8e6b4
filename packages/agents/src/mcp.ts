/**
 * Serves `POST /mcp`: requests of the Model Context Protocol, whose tools call Odoo. Keys, limits and addresses were
 * checked before.
 */

import type { AnswerHeaders, AnswerWriter } from '@erp-proxy/async/streams';
import { SingleFlightCache } from '@erp-proxy/async/tasks';
import type { InstanceList } from '@erp-proxy/control/instances';
import { type CallRunner, Denial } from '@erp-proxy/gateway/terms';
import { isObject } from '@erp-proxy/json';
import type { ParallelCalls } from '@erp-proxy/traffic/limits';
import { weighFields } from './fields.ts';
import { type AnswerRelay, createQuestions } from './questions.ts';
import { readBody } from './read-body.ts';
import { connectSdk } from './sdk.ts';
import { type ChangesSource, type DocumentsSource, Session, type SessionDeps } from './session.ts';

export interface McpOptions {
  instances: InstanceList;
  changes: ChangesSource;
  documents: DocumentsSource;
  /** Bounds the calls of requests for several instances. */
  parallelCalls: ParallelCalls;
  /**
   * A key of 32 bytes, the same on all replicas. It proves that a confirmed call is the one that the person was asked
   * about.
   */
  secret: Uint8Array;
  /** Passes the answers of people between processes. */
  relay: AnswerRelay;
  /** Version of this program. */
  version: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Called with exceptions of tools. */
  onFault: (requestId: string, error: unknown) => void;
}

export interface Mcp {
  /** Answers the request, or returns why it cannot be answered. */
  serve(runner: CallRunner): Promise<Denial | null>;
}

/** Maximum bytes of cached users and fields of models, for all keys. */
const KNOWN_BYTES_MAX = 64 * 1024 * 1024;
/** Estimated bytes of a cached entry without its fields. */
const ENTRY_BYTES = 1000;
const SESSION_HEADER = 'mcp-session-id';
const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
const NOTHING = new Uint8Array();

export function createMcp({
  instances,
  changes,
  documents,
  parallelCalls,
  secret,
  relay,
  version,
  clock,
  nowMs,
  onFault,
}: McpOptions): Mcp {
  const sessions: SessionDeps = {
    changes,
    documents,
    parallelCalls,
    listInstances: () => instances.list(),
    namePolicy: createPolicyNames(),
    known: new SingleFlightCache(KNOWN_BYTES_MAX, nowMs, weigh),
    clock,
    onFault,
  };
  const questions = createQuestions(secret, relay, nowMs);
  const sdk = connectSdk({ secret, version, questions });
  return {
    async serve(runner) {
      const body = await readBody(runner.bytes, runner.signal);
      if (body instanceof Denial) return body;
      const { exchange, client } = runner;
      const message = body.value;
      const keyId = client.key.id;
      if (questions.isAnswer(message)) {
        await questions.keepAnswer(message, keyId);
        exchange.writer.sendWhole(202, runner.describe(), NOTHING);
        return null;
      }
      const acceptsEvents = accepts(exchange.header('accept'), EVENTS_TYPE);
      const shows = questions.readSession(exchange.header(SESSION_HEADER), keyId);
      const request = {
        runner,
        session: new Session(runner, readMeta(message), sessions),
        acceptsEvents,
        // Not in a batch, whose questions would share one time limit.
        canAsk: acceptsEvents && shows.questions && !Array.isArray(message),
        canShowPages: shows.pages,
        isAsking: false,
      };
      const response = await sdk.answer(createRequest(runner), message, request);
      const opened = acceptsEvents && response.status === 200 ? questions.openSession(message, keyId) : null;
      const headers = {
        ...runner.describe(),
        'content-type': response.headers.get('content-type') ?? JSON_TYPE,
        ...(opened === null ? {} : { [SESSION_HEADER]: opened }),
      };
      await sendResponse(response, exchange.writer, headers, request);
      return null;
    },
  };
}

/**
 * Copies the headers that the SDK reads. `accept` names both types for the SDK if the client takes JSON or any type.
 */
function createRequest({ exchange }: CallRunner): Request {
  const accept = exchange.header('accept');
  const headers = new Headers();
  for (const name of ['content-type', 'mcp-method', 'mcp-name', 'mcp-protocol-version']) {
    const value = exchange.header(name);
    if (value !== undefined) headers.set(name, value);
  }
  const takesJson = accept === undefined || accepts(accept, JSON_TYPE);
  headers.set('accept', takesJson ? `${JSON_TYPE}, ${EVENTS_TYPE}` : accept);
  // The SDK does not use the address.
  return new Request('http://erp-proxy/mcp', { method: 'POST', headers });
}

/** True if the header names the type. A range that allows any type counts for JSON only, not for events. */
function accepts(header: string | undefined, type: string): boolean {
  const ranges = header?.split(',').map((range) => range.split(';', 1)[0]?.trim().toLowerCase()) ?? [];
  return (
    ranges.includes(type) ||
    (type === JSON_TYPE && (ranges.includes('*/*') || ranges.includes('application/*')))
  );
}

/** The member `_meta` of the message, which concerns its calls. */
function readMeta(message: unknown): Record<string, unknown> {
  const params = isObject(message) ? message['params'] : undefined;
  const meta = isObject(params) ? params['_meta'] : undefined;
  return isObject(meta) ? meta : {};
}

/** A gateway that buffers the pieces would keep a question from the person. */
const UNBUFFERED = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

/** Sends the answer as a whole, or piece by piece as soon as a person is asked. */
async function sendResponse(
  { status, body }: Response,
  writer: AnswerWriter,
  headers: AnswerHeaders,
  request: { readonly isAsking: boolean },
): Promise<void> {
  const held: Uint8Array[] = [];
  let isBegun = false;
  for await (const piece of body ?? []) {
    held.push(piece);
    if (!request.isAsking) continue;
    if (!isBegun) writer.begin(status, { ...headers, ...UNBUFFERED }, null);
    isBegun = true;
    for (const each of held.splice(0)) void writer.write(each);
  }
  if (isBegun) writer.end();
  else writer.sendWhole(status, headers, Buffer.concat(held));
}

function weigh(known: NonNullable<unknown>): number {
  return ENTRY_BYTES + (known instanceof Map ? weighFields(known) : 0);
}

/**
 * Numbers policies as they are seen. Ids would not distinguish them: a key can get another policy, and tokens of one
 * user can have different policies.
 */
function createPolicyNames(): SessionDeps['namePolicy'] {
  const numbers = new WeakMap<object, number>();
  let count = 0;
  return (policy) => {
    if (policy === null) return '-';
    const number = numbers.get(policy) ?? ++count;
    numbers.set(policy, number);
    return String(number);
  };
}
