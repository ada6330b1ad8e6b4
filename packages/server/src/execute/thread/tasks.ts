/**
 * What the thread for large calls can do: the steps of a call that read all of its bytes. All of them are pure. Their
 * arguments and results are messages, so that they contain no functions and no compiled policies.
 */
import type { Policy } from '@erp-proxy/contract';
import { readArguments } from '@erp-proxy/odoo';
import { classifyOwnJson2Fault, refineFault } from '@erp-proxy/odoo/faults';
import { classifyJson2Answer, mapCall, unwrapOne } from '@erp-proxy/odoo/json2';
import { buildExecuteKw } from '@erp-proxy/odoo/jsonrpc';
import { type LearntTypes, readNamedFields } from '@erp-proxy/odoo/values';
import { type CompiledPolicy, compilePolicy } from '@erp-proxy/policy';
import { authorizeCall, authorizeJson2Call } from '../call/authorize.ts';
import {
  listCallFields,
  listJson2Fields,
  setCallArgument,
  setJson2Argument,
} from '../call/field-arguments.ts';
import { limitCall } from '../call/limit.ts';
import { type Call, parseBody, parseCall, parseDocument } from '../call/parse.ts';
import { type Json2Call, parseJson2Call } from '../call/parse-json2.ts';
import { parseVersionQuestion } from '../call/parse-version-question.ts';
import { checkRelatedCall, checkRelatedJson2Call } from '../call/related-verdict.ts';
import { convertWrittenCall } from '../call/written-call.ts';
import type { ValuesState } from '../terms/operation.ts';
import { parseAnswer, parseValue } from '../upstream/parse-answer.ts';

export const TASKS = {
  parseDocument,
  parseBody,
  parseCall,
  parseJson2Call,
  parseVersionQuestion,
  authorizeCall: (call: Call, policy: Policy, values: ValuesState) =>
    authorizeCall(call, { policy: compile(policy) }, values),
  authorizeJson2Call: (call: Json2Call, policy: Policy) =>
    authorizeJson2Call(call, { policy: compile(policy) }),
  convertWrittenCall,
  listCallFields,
  listJson2Fields,
  checkRelatedCall: (call: Call, policy: Policy, learnt: LearntTypes) =>
    checkRelatedCall(call, compile(policy), learnt),
  checkRelatedJson2Call: (call: Json2Call, policy: Policy, learnt: LearntTypes) =>
    checkRelatedJson2Call(call, compile(policy), learnt),
  setCallArgument,
  setJson2Argument,
  limitCall,
  readNamedFields: (call: Parameters<typeof readArguments>[0]) => readNamedFields(readArguments(call)),
  mapCall,
  buildExecuteKw,
  refineFault,
  parseAnswer,
  parseValue,
  classifyJson2Answer,
  classifyOwnJson2Fault,
  unwrapOne,
};

/** Policies of large calls are few, and each is used for all steps of a call. */
const COMPILED_MAX = 16;
const compiled = new Map<string, CompiledPolicy>();

function compile(policy: Policy): CompiledPolicy {
  const text = JSON.stringify(policy);
  const known = compiled.get(text);
  if (known !== undefined) return known;
  if (compiled.size === COMPILED_MAX) compiled.clear();
  const added = compilePolicy(policy);
  compiled.set(text, added);
  return added;
}
