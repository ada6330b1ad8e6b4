/**
 * The steps of a call that read all of its bytes. Small calls pass them here and now; the steps of a large one run in a
 * thread, because they would block the event loop. Each promise rejects with {@link TaskAborted} if the signal is
 * aborted first.
 */

import { isLarge, shareInSlices } from '@erp-proxy/async/shared-bytes';
import type { Client } from '@erp-proxy/control/keys';
import type { Fault, RefinedCall } from '@erp-proxy/odoo/faults';
import type { MappedCall } from '@erp-proxy/odoo/json2';
import type { Signature } from '@erp-proxy/odoo/signatures';
import type { NamedFields } from '@erp-proxy/odoo/values';
import type { Call } from '../call/parse.ts';
import type { Json2Call } from '../call/parse-json2.ts';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { MethodCall, TargetedCall } from '../terms/method-call.ts';
import type { ValuesState } from '../terms/operation.ts';
import type { Body } from '../terms/parsed-body.ts';
import type { Target } from '../terms/target.ts';
import { runInThread } from './run-in-thread.ts';
import { TASKS, type TaskName, type Tasks } from './tasks.ts';

type Arguments<Name extends TaskName> = Parameters<Tasks[Name]>;

/** A task with the signal of its call as the last argument. `measure`: the bytes that it reads. */
function createStep<Name extends TaskName>(
  name: Name,
  measure: (...args: Arguments<Name>) => { length: number },
) {
  const task = TASKS[name] as unknown as (...args: Arguments<Name>) => ReturnType<Tasks[Name]>;
  return async (
    ...given: [...args: Arguments<Name>, signal: AbortSignal]
  ): Promise<ReturnType<Tasks[Name]>> => {
    const args = given.slice(0, -1) as Arguments<Name>;
    const bytes = measure(...args);
    return isLarge(bytes)
      ? await runInThread(name, args, bytes.length, given.at(-1) as AbortSignal)
      : task(...args);
  };
}

const measureBytes = (bytes: Uint8Array) => bytes;
const measureCall = (call: { bytes: Uint8Array }) => call.bytes;
const measureArguments = ({ params, keyword }: Pick<MethodCall, 'params' | 'keyword'>) => ({
  length: params.length + keyword.length,
});

/** Checks that a body of another kind is JSON. */
export const parseDocument = createStep('parseDocument', measureBytes);

const parseShared = createStep('parseBody', measureBytes);

/** A body that did not arrive as one is not shared yet. */
export async function parseBody(bytes: Uint8Array, signal: AbortSignal): Promise<Body | Denial> {
  return await parseShared(isLarge(bytes) ? await shareInSlices([bytes]) : bytes, signal);
}

export const parseCall = createStep('parseCall', measureBytes);
export const parseJson2Call = createStep('parseJson2Call', measureBytes);
export const parseVersionQuestion = createStep('parseVersionQuestion', measureBytes);

const authorizeExecute = createStep('authorizeCall', measureCall);
const authorizeJson2 = createStep('authorizeJson2Call', measureCall);

export async function authorizeCall(
  call: Call,
  { policy }: Pick<Client, 'policy'>,
  values: ValuesState,
  signal: AbortSignal,
): Promise<Call | Denial> {
  return policy === null ? call : await authorizeExecute(call, { policy }, values, signal);
}

export async function authorizeJson2Call(
  call: Json2Call,
  { policy }: Pick<Client, 'policy'>,
  _values: ValuesState,
  signal: AbortSignal,
): Promise<Json2Call | Denial> {
  return policy === null ? call : await authorizeJson2(call, { policy }, signal);
}

export const convertWrittenCall = createStep('convertWrittenCall', measureCall);
export const listCallFields = createStep('listCallFields', measureCall);
export const listJson2Fields = createStep('listJson2Fields', measureCall);
export const checkRelatedCall = createStep('checkRelatedCall', measureCall);
export const checkRelatedJson2Call = createStep('checkRelatedJson2Call', measureCall);
export const setCallArgument = createStep('setCallArgument', measureCall);
export const setJson2Argument = createStep('setJson2Argument', measureCall);

const limitCall = createStep('limitCall', measureCall);

export async function buildMethodCall(
  call: Call,
  target: Target,
  dialect: Dialect,
  signal: AbortSignal,
): Promise<TargetedCall | Denial> {
  const sent = await limitCall(call, dialect, signal);
  return sent instanceof Denial ? sent : { ...sent, target };
}

// The thread gets only the members of calls and targets that it reads.

const readFields = createStep('readNamedFields', measureArguments);

export async function readNamedFields(
  { params, keyword }: MethodCall,
  signal: AbortSignal,
): Promise<NamedFields> {
  return await readFields({ params, keyword }, signal);
}

const mapMethod = createStep('mapCall', measureArguments);

export async function mapCall(
  { model, method, params, keyword, records }: MethodCall,
  { pathPrefix, db, apiKey }: Target,
  signature: Signature | undefined,
  hasChoice: boolean,
  signal: AbortSignal,
): Promise<MappedCall> {
  const call = { model, method, params, keyword, records };
  return await mapMethod(call, { pathPrefix, db, apiKey }, signature, hasChoice, signal);
}

const refine = createStep('refineFault', (_fault, call) => measureArguments(call));

export async function refineFault(
  fault: Fault,
  { model, method, params, keyword }: RefinedCall,
  signal: AbortSignal,
): Promise<Fault> {
  return await refine(fault, { model, method, params, keyword }, signal);
}

export const buildExecuteKw = createStep('buildExecuteKw', measureArguments);
export const parseAnswer = createStep('parseAnswer', measureBytes);
/** The position of a value that is a whole document. */
export const parseValue = createStep('parseValue', measureBytes);
export const classifyJson2Answer = createStep('classifyJson2Answer', ({ body }) => body);
export const classifyOwnJson2Fault = createStep('classifyOwnJson2Fault', measureBytes);
export const unwrapOne = createStep('unwrapOne', measureBytes);
