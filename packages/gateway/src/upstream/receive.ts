/**
 * Recognises an upstream answer by its status and first bytes. The rest of a result is not read here, but streamed to
 * the caller. Faults, and answers in an unusual form, are read whole, up to a maximum size.
 */

import { ByteStreamError } from '@erp-proxy/async/streams';
import type { Outcome } from '@erp-proxy/contract';
import type { EgressAnswer } from '@erp-proxy/egress';
import { classifyFault, type Fault, isLoginCooldown } from '@erp-proxy/odoo/faults';
import { isJson2Result } from '@erp-proxy/odoo/json2';
import { matchResultHead } from '@erp-proxy/odoo/jsonrpc';
import { findFirewall, isRouteMissing } from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import type { UpstreamCall } from '../terms/method-call.ts';
import { type FaultReply, type Reply, replyWhole } from '../terms/reply.ts';
import type { Deadline } from '../terms/request-time.ts';
import {
  denyBrokenOff,
  describeOutcome,
  LoginCooldown,
  type OutcomeDetails,
} from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';
import { type ParsedAnswer, parseAnswer } from './parse-answer.ts';
import { PeekedBody } from './peeked-body.ts';
import type { Contradiction } from './servers.ts';
import { denyOverloaded, denyStatus, denyTooLarge } from './upstream-status.ts';

/**
 * An answer that contradicts what was known about the server. The call may be sent another way. A write may only if
 * `otherwise` says that nothing was run.
 */
export interface ContradictionReply {
  kind: 'contradiction';
  /** The wrong assumption: a route, the signature used for the call, or that json2 shows the database. */
  about: Contradiction;
  /** The reply if there is no other way. */
  otherwise: FaultReply | Denial;
}

export type ReceivedReply = Reply | ContradictionReply;

export interface ReceiveSettings {
  /** Largest answer that is read whole, in bytes. */
  answerBytesMax: number;
  /** Whether Odoo's tracebacks go to the caller. */
  isDebug: boolean;
}

/** A complete answer of at most this many bytes is parsed before it is passed on (docs/execute.md#the-answer). */
const CHECKED_BYTES_MAX = 16 * 1024;
/** Total wait for a short answer of unknown length. After it, the bytes that have arrived are passed on unchecked. */
const SHORT_ANSWER_WAIT_MS = 20;

/** Used if it is not known when the lockout began. */
const COOLDOWN_SECONDS = 60;
const NULL_RESULT = Buffer.from('null');
const CLOSING_BRACE = Buffer.from('}');
const NOTHING = Buffer.alloc(0);

export async function receiveReply(
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<ReceivedReply> {
  const peeked = new PeekedBody(answer.body);
  const { status, bodyLength } = answer;
  const bytesMax = Math.min(CHECKED_BYTES_MAX, settings.answerBytesMax);
  const isShort =
    call.protocol === 'jsonrpc' && status === 200 && bodyLength !== null && bodyLength <= bytesMax;
  try {
    if (isShort && peeked.readArrived(bytesMax))
      return readParsed(parseAnswer(peeked.bytes), peeked.bytes, answer, call, settings);
  } catch (error) {
    return denyBrokenAnswer(error, answer, call, deadline);
  }
  return await receiveLate(peeked, answer, call, deadline, settings);
}

async function receiveLate(
  peeked: PeekedBody,
  answer: EgressAnswer,
  call: UpstreamCall,
  deadline: Deadline,
  settings: ReceiveSettings,
): Promise<ReceivedReply> {
  try {
    if (call.protocol === 'json2') return await readJson2Reply(peeked, answer, call, deadline, settings);
    if (answer.status === 200) return await readJsonrpcReply(peeked, answer, call, deadline, settings);
    peeked.cancel();
    const denial = denyStatus(answer, call);
    return isRouteMissing(answer)
      ? { kind: 'contradiction', about: 'jsonrpc_missing', otherwise: denial }
      : denial;
  } catch (error) {
    return denyBrokenAnswer(error, answer, call, deadline);
  }
}

/** The denial for an answer that broke off while it was read. Throws other errors. */
export function denyBrokenAnswer(
  error: unknown,
  answer: EgressAnswer,
  { isReadOnly }: UpstreamCall,
  deadline: Deadline,
): Denial {
  answer.body.cancel();
  if (!(error instanceof ByteStreamError) && !(error instanceof TaskAborted)) throw error;
  return denyBrokenOff(deadline, { outcome: 'unknown', isReadOnly, detail: error.message });
}

async function readJsonrpcReply(
  peeked: PeekedBody,
  answer: EgressAnswer,
  call: UpstreamCall,
  { signal }: Deadline,
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
        lastByte: CLOSING_BRACE[0]!,
        tail: NOTHING,
      };
    }
  }
  if (!(await peeked.readWhole(settings.answerBytesMax))) {
    peeked.cancel();
    return denyAnswer(
      call,
      'The answer is not in the form that Odoo prints, and too large to be checked.',
      'too large',
    );
  }
  const bytes = await peeked.share();
  return readParsed(await largeCalls.parseAnswer(bytes, signal), bytes, answer, call, settings);
}

/** Reads on while the answer may be a short one, because short answers are checked before they are passed on. */
async function readShort(peeked: PeekedBody, bodyLength: number | null): Promise<void> {
  if (bodyLength !== null && bodyLength > CHECKED_BYTES_MAX) return;
  if (bodyLength !== null) {
    while (!peeked.isWhole) await peeked.readMore();
    return;
  }
  await peeked.readMoreWithin(SHORT_ANSWER_WAIT_MS, CHECKED_BYTES_MAX);
}

/** Makes the reply of a complete answer. */
function readParsed(
  parsed: ParsedAnswer,
  bytes: Uint8Array,
  answer: EgressAnswer,
  call: UpstreamCall,
  settings: ReceiveSettings,
): Reply {
  switch (parsed.kind) {
    case 'bad':
      return findFirewall(answer) === null
        ? denyAnswer(call, parsed.what, parsed.detail)
        : denyStatus(answer, call);
    case 'fault': {
      const options = { debug: settings.isDebug, secrets: [call.target.apiKey] };
      if (isLoginCooldown(parsed.fault))
        return new LoginCooldown(buildDetails(call, 'rolled_back', ''), COOLDOWN_SECONDS);
      return replyFault(classifyFault(parsed.fault, options), call);
    }
    case 'empty':
      return replyWhole(NULL_RESULT, CLOSING_BRACE);
    case 'result':
      return replyWhole(bytes.subarray(parsed.value.start, parsed.value.end), CLOSING_BRACE);
  }
}

/**
 * Reads an answer of json2: the value alone, or a fault that its status announces (docs/odoo-facts.md#errors-of-json2).
 */
async function readJson2Reply(
  peeked: PeekedBody,
  answer: EgressAnswer,
  call: UpstreamCall,
  { signal }: Deadline,
  settings: ReceiveSettings,
): Promise<ReceivedReply> {
  const { status, headers, bodyLength } = answer;
  if (isJson2Result(answer) && call.resultShape === 'same') {
    await peeked.readMore();
    await readShort(peeked, bodyLength);
    const lastByte = ENDINGS.get(peeked.bytes[0] ?? 0);
    if (!peeked.isWhole && lastByte !== undefined) {
      return {
        kind: 'result',
        pieces: [peeked.bytes],
        rest: peeked,
        lengthBytes: bodyLength,
        lastByte,
        tail: CLOSING_BRACE,
      };
    }
  }
  if (!(await peeked.readWhole(settings.answerBytesMax))) {
    peeked.cancel();
    return denyAnswer(call, 'The answer is too large to be checked.', 'too large');
  }
  const body = await peeked.share();
  const classified = await largeCalls.classifyJson2Answer(
    { status, headers, body },
    { debug: settings.isDebug, secrets: [call.target.apiKey] },
    signal,
  );
  switch (classified.kind) {
    case 'result':
      return readJson2Value(body, call, signal);
    case 'fault':
      return replyFault(classified.fault, call);
    case 'signature_differs':
      return {
        kind: 'contradiction',
        about: 'signature',
        otherwise: (classified.takesNoIds && call.ifNoIds) || { kind: 'fault', fault: classified.fault },
      };
    case 'database_hidden':
      return {
        kind: 'contradiction',
        about: 'database',
        otherwise: { kind: 'fault', fault: classified.fault },
      };
    case 'route_missing':
      return {
        kind: 'contradiction',
        about: 'json2_missing',
        otherwise: denyStatus(answer, call, 'not_sent'),
      };
    case 'status':
      return denyStatus(answer, call);
    case 'bad':
      return status === 200 && findFirewall(answer) === null
        ? denyAnswer(call, "The answer is not Odoo's.", classified.reason)
        : denyStatus(answer, call);
  }
}

async function readJson2Value(bytes: Uint8Array, call: UpstreamCall, signal: AbortSignal): Promise<Reply> {
  if (call.resultShape === 'unwrap_one') {
    const only = await largeCalls.unwrapOne(bytes, signal);
    return only === null
      ? denyAnswer(call, 'The answer is not the id of one record.', 'not one id')
      : replyWhole(only, CLOSING_BRACE);
  }
  const parsed = await largeCalls.parseValue(bytes, signal);
  if ('error' in parsed) return denyAnswer(call, 'The answer is not JSON.', parsed.error);
  return replyWhole(bytes.subarray(parsed.value.start, parsed.value.end), CLOSING_BRACE);
}

/** By the first byte of a value that can be long: its last byte. */
const ENDINGS = new Map([
  [0x5b, 0x5d],
  [0x7b, 0x7d],
  [0x22, 0x22],
]);

/** Odoo also reports in its envelope what a reverse proxy reports by status (docs/odoo-facts.md#body-limit). */
function replyFault(fault: Fault, call: UpstreamCall): Reply {
  if (fault.data.name === 'werkzeug.exceptions.RequestEntityTooLarge') return denyTooLarge(fault.data.name);
  if (fault.data.name === 'werkzeug.exceptions.TooManyRequests')
    return denyOverloaded(buildDetails(call, 'not_sent', fault.data.name), {});
  return { kind: 'fault', fault };
}

function denyAnswer(call: UpstreamCall, what: string, detail: string): Denial {
  const details = buildDetails(call, 'unknown', detail);
  return new Denial(
    'upstream_bad_response',
    `${what} Check that \`erp_instance.url\` is the base address of an Odoo server. ${describeOutcome(details, true)}`,
    details,
  );
}

function buildDetails(call: UpstreamCall, outcome: Outcome, detail: string): OutcomeDetails {
  return { outcome, isReadOnly: call.isReadOnly, detail };
}
