/**
 * Step: tells what an upstream answer is, from its status and first bytes. A result is not read further here: it goes on
 * as it arrives. Faults, and answers in an unusual form, are read whole within a bound.
 */
import type { Outcome } from '@erp-proxy/contract';
import { type EgressAnswer, type EgressBody, EgressBreak } from '../egress/dispatcher.ts';
import { readDocument } from '../json/document.ts';
import { readMembers } from '../json/members.ts';
import type { JsonMember } from '../json/span.ts';
import { JsonSyntaxError } from '../json/syntax-error.ts';
import { classifyFault, type Fault } from '../odoo/faults.ts';
import { matchResultHead } from '../odoo/jsonrpc.ts';
import type { Deadline } from './deadline.ts';
import { Denial } from './denial.ts';
import { PeekedBody } from './peeked-body.ts';
import type { UpstreamCall } from './translate.ts';
import { adviseFate, denyEnded, type UpstreamFate } from './upstream-denials.ts';

/** A success. `pieces` begin with the result's value; the envelope's closing brace is the end of the last one. */
export interface ResultReply {
  kind: 'result';
  pieces: Uint8Array[];
  /** What is still to come; null where `pieces` are the whole, which then has been checked. */
  rest: EgressBody | null;
  /** Length of all pieces and the rest in bytes, where it is known. */
  lengthBytes: number | null;
}

/** What Odoo said no with. */
export interface FaultReply {
  kind: 'fault';
  fault: Fault;
}

export type Reply = ResultReply | FaultReply | Denial;

export interface ReceiveSettings {
  /** Largest answer that is read whole, in bytes. */
  answerBytesMax: number;
  /** Whether Odoo's tracebacks go to the caller. */
  isDebug: boolean;
}

/** An answer that is there whole within this many bytes is parsed before it goes on (contract section 1). */
const CHECKED_BYTES_MAX = 16 * 1024;
/** How long a short answer of unknown length may take in all before what is there goes on unchecked. */
const SHORT_ANSWER_WAIT_MS = 20;

const NULL_RESULT = Buffer.from('null}');

export async function receiveReply(
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<Reply> {
  if (answer.status !== 200) {
    answer.body.cancel();
    return denyStatus(answer, call);
  }
  const peeked = new PeekedBody(answer.body);
  try {
    return await readReply(peeked, answer, call, settings);
  } catch (error) {
    answer.body.cancel();
    if (!(error instanceof EgressBreak)) throw error;
    if (deadline.reason !== null)
      return denyEnded(deadline, { outcome: 'unknown', isReadOnly: call.isReadOnly });
    const fate = describeFate(call, 'unknown', error.message);
    return new Denial('upstream_unreachable', `The server broke its answer off. ${adviseFate(fate)}`, fate);
  }
}

async function readReply(
  peeked: PeekedBody,
  answer: EgressAnswer,
  call: UpstreamCall,
  settings: ReceiveSettings,
): Promise<Reply> {
  let head = matchResultHead(peeked.bytes);
  while (head.kind === 'more' && !peeked.isWhole) {
    await peeked.readMore();
    head = matchResultHead(peeked.bytes);
  }
  if (head.kind === 'result') {
    const { bodyLength } = answer;
    await readShort(peeked, bodyLength);
    if (!peeked.isWhole) {
      return {
        kind: 'result',
        pieces: [peeked.bytes.subarray(head.resultStart)],
        rest: peeked,
        lengthBytes: bodyLength === null ? null : bodyLength - head.resultStart,
      };
    }
  }
  if (!(await readWhole(peeked, settings.answerBytesMax))) {
    peeked.cancel();
    return denyAnswer(
      call,
      'The answer is not in the form that Odoo prints, and too large to be checked.',
      'too large',
    );
  }
  return parseWhole(peeked.bytes, call, settings);
}

/** Reads on while the answer may be a short one: those are checked before they go on. */
async function readShort(peeked: PeekedBody, bodyLength: number | null): Promise<void> {
  if (bodyLength !== null && bodyLength > CHECKED_BYTES_MAX) return;
  if (bodyLength !== null) {
    while (!peeked.isWhole) await peeked.readMore();
    return;
  }
  await peeked.readMoreWithin(SHORT_ANSWER_WAIT_MS, CHECKED_BYTES_MAX);
}

async function readWhole(peeked: PeekedBody, bytesMax: number): Promise<boolean> {
  while (!peeked.isWhole) {
    if (peeked.length > bytesMax) return false;
    await peeked.readMore();
  }
  return peeked.length <= bytesMax;
}

/** An answer that is there whole, in whatever order and spacing its envelope is. */
function parseWhole(bytes: Uint8Array, call: UpstreamCall, settings: ReceiveSettings): Reply {
  let members: JsonMember[];
  try {
    const { root } = readDocument(bytes);
    if (root.kind !== 'object')
      return denyAnswer(call, "The answer is JSON, but not Odoo's.", 'not an object');
    members = readMembers(bytes, root);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return denyAnswer(call, 'The answer is not JSON.', error.message);
  }
  const find = (name: string) => members.findLast((member) => member.name === name)?.value;
  const error = find('error');
  const result = find('result');
  if (error !== undefined && error.kind !== 'null') {
    const text = Buffer.from(
      bytes.buffer,
      bytes.byteOffset + error.start,
      error.end - error.start,
    ).toString();
    const options = { debug: settings.isDebug, secrets: [call.target.apiKey] };
    return replyFault(classifyFault(JSON.parse(text), options), call);
  }
  if (result === undefined) {
    // A method that returns None: neither member (FACTS 1.2).
    if (find('jsonrpc') === undefined)
      return denyAnswer(call, "The answer is JSON, but not Odoo's.", 'no envelope');
    return { kind: 'result', pieces: [NULL_RESULT], rest: null, lengthBytes: NULL_RESULT.length };
  }
  const value = bytes.subarray(result.start, result.end);
  return {
    kind: 'result',
    pieces: [value, NULL_RESULT.subarray(4)],
    rest: null,
    lengthBytes: value.length + 1,
  };
}

/** Odoo also says in its envelope what a reverse proxy says by a status (FACTS 5.7). */
function replyFault(fault: Fault, call: UpstreamCall): Reply {
  if (fault.data.name === 'werkzeug.exceptions.RequestEntityTooLarge') return denyTooLarge(fault.data.name);
  if (fault.data.name === 'werkzeug.exceptions.TooManyRequests')
    return denyOverloaded(call, fault.data.name, undefined);
  return { kind: 'fault', fault };
}

function denyTooLarge(detail: string): Denial {
  return new Denial('payload_too_large', 'The server refuses a body of this size; send less in one call.', {
    detail,
  });
}

function denyOverloaded(
  call: UpstreamCall,
  detail: string,
  retryAfter: EgressAnswer['headers'][string],
): Denial {
  const fate = describeFate(call, 'not_sent', detail);
  const isGiven = typeof retryAfter === 'string' && RETRY_AFTER.test(retryAfter);
  return new Denial('overloaded', `The server is overloaded. ${adviseFate(fate)}`, {
    ...fate,
    ...(isGiven ? { headers: { 'retry-after': retryAfter } } : { retryAfterSeconds: RETRY_AFTER_SECONDS }),
  });
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
const RETRY_AFTER = /^(\d{1,9}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT)$/;
/** Where the server does not say when it will take calls again. */
const RETRY_AFTER_SECONDS = 1;

/** What a status other than 200 means; Odoo's JSON-RPC itself always says 200 (FACTS 1.6). */
function denyStatus(answer: EgressAnswer, call: UpstreamCall): Denial {
  const { status } = answer;
  const detail = `HTTP ${status}`;
  const refused = describeFate(call, 'not_sent', detail);
  const unknown = describeFate(call, 'unknown', detail);
  switch (status) {
    case 413:
      return denyTooLarge(detail);
    case 429:
    case 503:
      return denyOverloaded(call, detail, answer.headers['retry-after']);
    case 502:
      return new Denial(
        'upstream_unreachable',
        `The reverse proxy in front of Odoo does not reach it (HTTP 502). ${adviseFate(unknown)}`,
        unknown,
      );
    case 504:
      return new Denial(
        'upstream_timeout',
        `The reverse proxy in front of Odoo gave up waiting for it (HTTP 504). ${adviseFate(unknown)}`,
        unknown,
      );
  }
  // Below 500 the request was turned away before any method ran; a redirect or a success page is no Odoo answer.
  const fate = status >= 300 && status < 500 ? refused : unknown;
  return new Denial(
    'upstream_bad_response',
    `The server answered HTTP ${status} and not as Odoo's /jsonrpc does. Check that \`erp_instance.url\` is its base address. ${adviseFate(fate)}`,
    fate,
  );
}

function denyAnswer(call: UpstreamCall, what: string, detail: string): Denial {
  const fate = describeFate(call, 'unknown', detail);
  return new Denial(
    'upstream_bad_response',
    `${what} Check that \`erp_instance.url\` is the base address of an Odoo server. ${adviseFate(fate)}`,
    fate,
  );
}

function describeFate(call: UpstreamCall, outcome: Outcome, detail: string): UpstreamFate {
  return { outcome, isReadOnly: call.isReadOnly, detail };
}
