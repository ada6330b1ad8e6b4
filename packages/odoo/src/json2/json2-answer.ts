/**
 * Classifies an answer of `/json/2` by its status, its header and (except for results) its body. Knows the answers of
 * Odoo and of proxies in front of it, not what our caller gets.
 */
import { JsonSyntaxError, readDocument } from '@erp-proxy/json';
import { type ClassifyOptions, classifyFault, type Fault } from '../faults/faults.ts';
import { parseFault } from '../faults/read-fault.ts';
import { type AnswerStatus, classifyStatus, isConclusive, readHeader } from '../servers/http-status.ts';

export interface Json2Answer extends AnswerStatus {
  /** The complete body of an error; not used for results. */
  body: Uint8Array;
}

export type ClassifiedJson2Answer =
  /** The body is exactly the value. */
  | { kind: 'result' }
  /** An error of Odoo, as `/jsonrpc` would have sent it. */
  | { kind: 'fault'; fault: Fault }
  /**
   * The server binds the arguments differently from the signature that was used. Nothing ran. Forget the signature and
   * send the call another way if there is one; otherwise it is a mistake of the caller. `takesNoIds`: the method takes
   * no ids but got some.
   */
  | { kind: 'signature_differs'; fault: Fault; takesNoIds: boolean }
  /**
   * The server does not show this database. `/jsonrpc` may still open it, because `dbfilter` does not apply there
   * (docs/odoo-facts.md#database-not-restricted).
   */
  | { kind: 'database_hidden'; fault: Fault }
  /**
   * The server has no `/json/2` for us: it is older than 19, it was replaced, or a proxy in front of it blocks the
   * route. `isBlocked`: the status is one that a proxy blocks with, and not one of Odoo for a missing route.
   */
  | { kind: 'route_missing'; isBlocked: boolean }
  /** The status has the same meaning for every request (servers/http-status.ts). */
  | { kind: 'status' }
  /** Not an answer of Odoo to this request. The reason is for the log. */
  | { kind: 'bad'; reason: string };

export function classifyJson2Answer(answer: Json2Answer, options: ClassifyOptions): ClassifiedJson2Answer {
  if (isConclusive(answer)) return { kind: 'status' };
  switch (classifyStatus(answer)) {
    case 'success':
      return isJson(answer) ? { kind: 'result' } : bad('200 that is not JSON');
    case 'login_redirect':
      return ROUTE_MISSING;
    case 'unexpected':
    case 'moved':
    case 'redirect':
      return bad(`HTTP ${answer.status}`);
    case 'not_found':
      return isJson(answer) ? classifyBody(answer, options) : classifyMissingPage(answer, options);
    case 'blocked':
      // Not a page of Odoo: a proxy in front of it blocks the route.
      return isJson(answer) ? classifyBody(answer, options) : { kind: 'route_missing', isBlocked: true };
    default:
      return isJson(answer) ? classifyBody(answer, options) : bad(`HTTP ${answer.status} that is not JSON`);
  }
}

/** Whether the answer is a result; its body is not needed. */
export function isJson2Result(answer: AnswerStatus): boolean {
  return classifyStatus(answer) === 'success' && isJson(answer);
}

const ROUTE_MISSING: ClassifiedJson2Answer = { kind: 'route_missing', isBlocked: false };

function isJson(answer: AnswerStatus): boolean {
  return /^application\/json\s*(;|$)/i.test(readHeader(answer, 'content-type'));
}

function classifyMissingPage({ body }: Json2Answer, options: ClassifyOptions): ClassifiedJson2Answer {
  // The message is never translated, since translations are in the database (docs/odoo-facts.md#json2-pages).
  const isHidden = decodeStart(body).includes('No database is selected');
  return isHidden ? { kind: 'database_hidden', fault: denyDatabase(options) } : ROUTE_MISSING;
}

/** Exceptions that show that the request arrived damaged: something on the way changed it. */
const CHANGED_ON_THE_WAY: readonly { name: string; message: RegExp; reason: string }[] = [
  {
    name: 'werkzeug.exceptions.Unauthorized',
    message: /^User not authenticated/,
    reason: 'the authorization header did not arrive',
  },
  {
    name: 'werkzeug.exceptions.BadRequest',
    message: /^could not parse the body as json/,
    reason: 'the body did not arrive as it was sent',
  },
  {
    name: 'werkzeug.exceptions.NotFound',
    message: /^Did you mean POST /,
    reason: 'the path or the method did not arrive as it was sent',
  },
];

function classifyBody(answer: Json2Answer, options: ClassifyOptions): ClassifiedJson2Answer {
  const value = parseJson(answer.body);
  if (classifyStatus(answer) === 'not_found' && isOldNotFound(value)) return ROUTE_MISSING;
  const raw = readFault(value);
  if (raw === null) return bad(`HTTP ${answer.status} whose JSON is no fault of Odoo's`);
  const changed = CHANGED_ON_THE_WAY.find(
    ({ name, message }) => raw.name === name && message.test(raw.message),
  );
  if (changed) return bad(changed.reason);
  const fault = classifyFault(raw, options);
  // The route raises this before it calls the method. A method that raises the same class has another message.
  const isMisbound = raw.name.endsWith('.UnprocessableEntity') && fault.data.name === 'builtins.TypeError';
  if (!isMisbound) return { kind: 'fault', fault };
  return { kind: 'signature_differs', fault, takesNoIds: /^cannot call \S+ with ids$/.test(raw.message) };
}

function parseJson(body: Uint8Array): unknown {
  try {
    return parseFault(body, readDocument(body).root);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return null;
  }
}

/** 14 and 15 answer a call to an unknown path with a JSON-RPC error (docs/odoo-facts.md#early-errors-14). */
function isOldNotFound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || !('error' in value))
    return false;
  const { error } = value;
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 404;
}

function readFault(value: unknown): { name: string; message: string } | null {
  if (typeof value !== 'object' || value === null || 'data' in value) return null;
  const { name, message } = value as Record<string, unknown>;
  // Odoo's class names include the module. Errors of other programs can have a `message` too.
  if (typeof name !== 'string' || !/^\w+(\.\w+)+$/.test(name) || typeof message !== 'string') return null;
  return { ...value, name, message };
}

/** The error of `/jsonrpc` if PostgreSQL has no such database (docs/odoo-facts.md#database-not-restricted). */
function denyDatabase(options: ClassifyOptions): Fault {
  const message = 'FATAL:  database "" does not exist';
  return classifyFault(
    { name: 'psycopg2.OperationalError', message, arguments: [message], context: {} },
    options,
  );
}

function bad(reason: string): ClassifiedJson2Answer {
  return { kind: 'bad', reason };
}

/** Bytes of a page that are enough to recognise it. */
function decodeStart(body: Uint8Array): string {
  return new TextDecoder().decode(body.subarray(0, 4_096));
}
