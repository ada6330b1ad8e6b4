/**
 * The steps of a call that read all of its bytes. Small calls pass them here and now; the steps of a large one run in a
 * thread, because they would block the event loop. Each promise rejects with {@link TaskAborted} if the signal is
 * aborted first.
 */

import { isLarge, shareInSlices } from '@erp-proxy/async/shared-bytes';
import type { JsonDocument } from '@erp-proxy/json';
import { readArguments } from '@erp-proxy/odoo';
import {
  type ClassifyOptions,
  classifyOwnJson2Fault as classifyOwnJson2FaultNow,
  type Fault,
  type RefinedCall,
  refineFault as refineFaultNow,
} from '@erp-proxy/odoo/faults';
import type { ArgumentPlace, FieldScope, FieldUses } from '@erp-proxy/odoo/fields';
import {
  classifyJson2Answer as classifyJson2AnswerNow,
  type Json2Answer,
  type Json2Verdict,
  type MappedCall,
  mapCall as mapCallNow,
  unwrapOne as unwrapOneNow,
} from '@erp-proxy/odoo/json2';
import { buildExecuteKw as buildExecuteKwNow, type ExecuteKw } from '@erp-proxy/odoo/jsonrpc';
import type { Signature } from '@erp-proxy/odoo/signatures';
import {
  type LearntTypes,
  type NamedFields,
  readNamedFields as readNamedFieldsNow,
} from '@erp-proxy/odoo/values';
import type { CompiledPolicy } from '@erp-proxy/policy';
import type { Client } from '../../keys/keys.ts';
import * as authorizing from '../call/authorize.ts';
import * as fieldArguments from '../call/field-arguments.ts';
import * as limiting from '../call/limit.ts';
import type { Call } from '../call/parse.ts';
import * as parsing from '../call/parse.ts';
import type { Json2Call } from '../call/parse-json2.ts';
import * as json2Parsing from '../call/parse-json2.ts';
import type { VersionQuestion } from '../call/parse-version-question.ts';
import * as questionParsing from '../call/parse-version-question.ts';
import * as relatedVerdicts from '../call/related-verdict.ts';
import * as writing from '../call/written-call.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { MethodCall, TargetedCall } from '../terms/method-call.ts';
import type { ValuesState } from '../terms/operation.ts';
import type { Body, CallSpan, ParsedCall } from '../terms/parsed-body.ts';
import type { Target } from '../terms/target.ts';
import * as answers from '../upstream/parse-answer.ts';
import { runInThread } from './run-in-thread.ts';

/** Checks that a body of another kind is JSON. */
export async function parseDocument(
  bytes: Uint8Array,
  depthMax: number,
  signal: AbortSignal,
): Promise<JsonDocument | Denial> {
  return isLarge(bytes)
    ? await runInThread('parseDocument', [bytes, depthMax], bytes.length, signal)
    : parsing.parseDocument(bytes, depthMax);
}

export async function parseBody(bytes: Uint8Array, signal: AbortSignal): Promise<Body | Denial> {
  return isLarge(bytes) ? await parseLargeBody(bytes, signal) : parsing.parseBody(bytes);
}

/** A body that did not arrive as one is not shared yet. */
async function parseLargeBody(bytes: Uint8Array, signal: AbortSignal): Promise<Body | Denial> {
  return await runInThread('parseBody', [await shareInSlices([bytes])], bytes.length, signal);
}

export async function parseCall(
  bytes: Uint8Array,
  call: CallSpan,
  dialect: Dialect,
  signal: AbortSignal,
): Promise<ParsedCall<Call>> {
  return isLarge(bytes)
    ? await runInThread('parseCall', [bytes, call, dialect], bytes.length, signal)
    : parsing.parseCall(bytes, call, dialect);
}

export async function parseJson2Call(
  bytes: Uint8Array,
  call: CallSpan,
  dialect: Dialect,
  signal: AbortSignal,
): Promise<ParsedCall<Json2Call>> {
  return isLarge(bytes)
    ? await runInThread('parseJson2Call', [bytes, call, dialect], bytes.length, signal)
    : json2Parsing.parseJson2Call(bytes, call, dialect);
}

export async function parseVersionQuestion(
  bytes: Uint8Array,
  call: CallSpan,
  _dialect: Dialect,
  signal: AbortSignal,
): Promise<ParsedCall<VersionQuestion>> {
  return isLarge(bytes)
    ? await runInThread('parseVersionQuestion', [bytes, call], bytes.length, signal)
    : questionParsing.parseVersionQuestion(bytes, call);
}

export async function authorizeCall(
  call: Call,
  client: Pick<Client, 'policy'>,
  values: ValuesState,
  signal: AbortSignal,
): Promise<Call | Denial> {
  const { policy } = client;
  return policy !== null && isLarge(call.bytes)
    ? await runInThread('authorizeCall', [call, policy.policy, values], call.bytes.length, signal)
    : authorizing.authorizeCall(call, client, values);
}

export async function authorizeJson2Call(
  call: Json2Call,
  client: Pick<Client, 'policy'>,
  _values: ValuesState,
  signal: AbortSignal,
): Promise<Json2Call | Denial> {
  const { policy } = client;
  return policy !== null && isLarge(call.bytes)
    ? await runInThread('authorizeJson2Call', [call, policy.policy], call.bytes.length, signal)
    : authorizing.authorizeJson2Call(call, client);
}

export async function convertWrittenCall(
  call: Call,
  position: number,
  types: LearntTypes,
  signal: AbortSignal,
): Promise<writing.WrittenCall> {
  return isLarge(call.bytes)
    ? await runInThread('convertWrittenCall', [call, position, types], call.bytes.length, signal)
    : writing.convertWrittenCall(call, position, types);
}

export async function listCallFields(call: Call, scope: FieldScope, signal: AbortSignal): Promise<FieldUses> {
  return isLarge(call.bytes)
    ? await runInThread('listCallFields', [call, scope], call.bytes.length, signal)
    : fieldArguments.listCallFields(call, scope);
}

export async function listJson2Fields(
  call: Json2Call,
  scope: FieldScope,
  signal: AbortSignal,
): Promise<FieldUses> {
  return isLarge(call.bytes)
    ? await runInThread('listJson2Fields', [call, scope], call.bytes.length, signal)
    : fieldArguments.listJson2Fields(call, scope);
}

export async function checkRelatedCall(
  call: Call,
  policy: CompiledPolicy,
  learnt: LearntTypes,
  signal: AbortSignal,
): Promise<relatedVerdicts.RelatedVerdict> {
  return isLarge(call.bytes)
    ? await runInThread('checkRelatedCall', [call, policy.policy, learnt], call.bytes.length, signal)
    : relatedVerdicts.checkRelatedCall(call, policy, learnt);
}

export async function checkRelatedJson2Call(
  call: Json2Call,
  policy: CompiledPolicy,
  learnt: LearntTypes,
  signal: AbortSignal,
): Promise<relatedVerdicts.RelatedVerdict> {
  return isLarge(call.bytes)
    ? await runInThread('checkRelatedJson2Call', [call, policy.policy, learnt], call.bytes.length, signal)
    : relatedVerdicts.checkRelatedJson2Call(call, policy, learnt);
}

export async function setCallArgument(
  call: Call,
  place: ArgumentPlace,
  value: string,
  signal: AbortSignal,
): Promise<Call> {
  return isLarge(call.bytes)
    ? await runInThread('setCallArgument', [call, place, value], call.bytes.length, signal)
    : fieldArguments.setCallArgument(call, place, value);
}

export async function setJson2Argument(
  call: Json2Call,
  place: ArgumentPlace,
  value: string,
  signal: AbortSignal,
): Promise<Json2Call> {
  return isLarge(call.bytes)
    ? await runInThread('setJson2Argument', [call, place, value], call.bytes.length, signal)
    : fieldArguments.setJson2Argument(call, place, value);
}

export async function buildMethodCall(
  call: Call,
  target: Target,
  dialect: Dialect,
  signal: AbortSignal,
): Promise<TargetedCall | Denial> {
  const sent = isLarge(call.bytes)
    ? await runInThread('limitCall', [call, dialect], call.bytes.length, signal)
    : limiting.limitCall(call, dialect);
  return sent instanceof Denial ? sent : { ...sent, target };
}

type SentArguments = Pick<MethodCall, 'params' | 'keyword'>;

function hasLarge({ params, keyword }: SentArguments): boolean {
  return isLarge(params) || isLarge(keyword);
}

function countBytes({ params, keyword }: SentArguments): number {
  return params.length + keyword.length;
}

export async function readNamedFields(
  { params, keyword }: SentArguments,
  signal: AbortSignal,
): Promise<NamedFields> {
  const call = { params, keyword };
  return hasLarge(call)
    ? await runInThread('readNamedFields', [call], countBytes(call), signal)
    : readNamedFieldsNow(readArguments(call));
}

export async function mapCall(
  { model, method, params, keyword, records }: MethodCall,
  { pathPrefix, db, apiKey }: Target,
  signature: Signature | undefined,
  hasChoice: boolean,
  signal: AbortSignal,
): Promise<MappedCall> {
  const call = { model, method, params, keyword, records };
  const target = { pathPrefix, db, apiKey };
  return hasLarge(call)
    ? await runInThread('mapCall', [call, target, signature, hasChoice], countBytes(call), signal)
    : mapCallNow(call, target, signature, hasChoice);
}

export async function buildExecuteKw(call: ExecuteKw, signal: AbortSignal): Promise<Uint8Array> {
  return hasLarge(call)
    ? await runInThread('buildExecuteKw', [call], countBytes(call), signal)
    : buildExecuteKwNow(call);
}

export async function refineFault(
  fault: Fault,
  { model, method, params, keyword }: RefinedCall,
  signal: AbortSignal,
): Promise<Fault> {
  const call = { model, method, params, keyword };
  return hasLarge(call)
    ? await runInThread('refineFault', [fault, call], countBytes(call), signal)
    : refineFaultNow(fault, call);
}

export async function parseAnswer(bytes: Uint8Array, signal: AbortSignal): Promise<answers.ParsedAnswer> {
  return isLarge(bytes)
    ? await runInThread('parseAnswer', [bytes], bytes.length, signal)
    : answers.parseAnswer(bytes);
}

/** The position of a value that is a whole document. */
export async function parseValue(
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<ReturnType<typeof answers.parseValue>> {
  return isLarge(bytes)
    ? await runInThread('parseValue', [bytes], bytes.length, signal)
    : answers.parseValue(bytes);
}

export async function classifyJson2Answer(
  answer: Json2Answer,
  options: ClassifyOptions,
  signal: AbortSignal,
): Promise<Json2Verdict> {
  const { body } = answer;
  return isLarge(body)
    ? await runInThread('classifyJson2Answer', [answer, options], body.length, signal)
    : classifyJson2AnswerNow(answer, options);
}

export async function classifyOwnJson2Fault(
  body: Uint8Array,
  translated: Fault,
  options: ClassifyOptions,
  signal: AbortSignal,
): Promise<Fault> {
  return isLarge(body)
    ? await runInThread('classifyOwnJson2Fault', [body, translated, options], body.length, signal)
    : classifyOwnJson2FaultNow(body, translated, options);
}

export async function unwrapOne(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array | null> {
  return isLarge(bytes) ? await runInThread('unwrapOne', [bytes], bytes.length, signal) : unwrapOneNow(bytes);
}
