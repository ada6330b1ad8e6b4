/**
 * The work on a call that reads all of its bytes, and that the thread can do (large-calls.ts). All of it is pure. Its
 * arguments and results are messages (messages.ts): they contain no functions but those of compiled policies.
 */
import { readArguments } from '@erp-proxy/odoo';
import { classifyOwnJson2Fault, refineFault } from '@erp-proxy/odoo/faults';
import { classifyJson2Answer, mapCall, unwrapOne } from '@erp-proxy/odoo/json2';
import { buildExecuteKw } from '@erp-proxy/odoo/jsonrpc';
import { readNamedFields } from '@erp-proxy/odoo/values';
import { authorizeCall, authorizeJson2Call } from '../call/authorize.ts';
import { checkRelatedCall, checkRelatedJson2Call } from '../call/check-related.ts';
import {
  listCallFields,
  listJson2Fields,
  setCallArgument,
  setJson2Argument,
} from '../call/field-arguments.ts';
import { limitCall } from '../call/limit.ts';
import { parseBody, parseCall, parseDocument } from '../call/parse.ts';
import { parseJson2Call } from '../call/parse-json2.ts';
import { parseVersionQuestion } from '../call/parse-version-question.ts';
import { convertWrittenCall } from '../call/written-call.ts';
import { parseAnswer, parseValue } from '../upstream/parse-answer.ts';

export const TASKS = {
  parseDocument: (bytes: Uint8Array, depthMax: number) => parseDocument(bytes, depthMax),
  parseBody,
  parseCall,
  parseJson2Call,
  parseVersionQuestion,
  authorizeCall,
  authorizeJson2Call,
  convertWrittenCall,
  listCallFields,
  listJson2Fields,
  checkRelatedCall,
  checkRelatedJson2Call,
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

export type Tasks = typeof TASKS;
export type TaskName = keyof Tasks;
