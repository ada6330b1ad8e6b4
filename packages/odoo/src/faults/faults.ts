/**
 * Converts an error from Odoo into the `error` member of our answer. One mistake gets one type, whatever the version
 * and the protocol. Never passes a traceback, a path, SQL or a credential, and never throws, whatever the input.
 */

import { BUSINESS_CODES, BUSINESS_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { createFaultCleaner, type FaultCleaner } from './fault-cleaner.ts';
import { FAULT_RULES, type FaultRule } from './fault-rules.ts';
import { findInnermostFrame } from './innermost-frame.ts';
import { translateJson2Fault } from './json2-faults.ts';

/** An error that Odoo raised, as the `error` member of our answer. */
export type Fault = {
  code: number;
  message: string;
  data: {
    type: BusinessErrorType;
    retryable: boolean;
    /** Odoo's exception class; empty if Odoo named none. */
    name: string;
    message: string;
    arguments: unknown[];
    context: { [name: string]: unknown };
    status: number;
    debug?: string;
    /** Existing names, if the fault is about an unknown one; the nearest first. */
    nearest?: string[];
  };
};

export interface ClassifyOptions {
  /** If true, passes Odoo's traceback on, with secrets removed. */
  debug: boolean;
  /** The credentials of the call. */
  secrets: readonly string[];
}

/**
 * Classifies the `error` member of `/jsonrpc` (`{code, message, data}`) or the body of a `/json/2` error
 * (`{name, message, arguments, context, debug}`).
 */
export function classifyFault(fault: unknown, options: ClassifyOptions): Fault {
  const { code, name, message, ...read } = readFault(fault);
  const rule = findRule(name, message, read.debug);
  const type = rule?.type ?? 'upstream_error';
  const cleaner = createFaultCleaner(options.secrets);
  const passed = isTextPassed(name) ? passTexts(type, message, read, cleaner) : replaceTexts(type);
  const { status, retry } = BUSINESS_ERRORS[type];
  return {
    code: chooseCode(code, name, rule),
    message: rule?.text ?? (passed.summary || OWN_TEXTS[type]),
    data: {
      type,
      retryable: retry === 'always',
      name: cleaner.cleanText(name),
      message: passed.message,
      arguments: passed.arguments,
      context: passed.context,
      status,
      ...(options.debug && read.debug !== '' && { debug: cleaner.cleanDebug(read.debug) }),
    },
  };
}

/** The text for the caller if Odoo's is empty or must not be passed on. */
const OWN_TEXTS: Record<BusinessErrorType, string> = {
  access_denied: 'Access denied: check the credentials of the call.',
  access_error: 'The user may not do this.',
  record_missing: 'A record does not exist or was deleted.',
  validation_error:
    'A constraint of the database was violated: a value is missing, not unique, or still in use.',
  user_error: 'Odoo refused the call.',
  redirect_warning: 'Odoo refused the call; `data.arguments` names an action that would help.',
  model_not_found: 'The database has no such model.',
  method_not_found: 'The model has no such public method.',
  arguments_invalid: 'A value of the call is invalid: it is out of range or has the wrong type.',
  query_invalid: 'The query is invalid: check its fields, operators, order and grouping.',
  concurrency_conflict:
    'The call conflicted with another transaction and was rolled back: send the call again.',
  database_missing: 'The server has no such Odoo database: check `db`.',
  upstream_error: "Odoo failed; the Odoo server's log has the cause.",
};

/**
 * Classes whose messages are written for users. Messages of other classes (psycopg2, sockets, files) contain hosts,
 * paths and SQL.
 */
const PASSED_CLASSES =
  /^(odoo\.|werkzeug\.exceptions\.|builtins\.(Exception$|(Assertion|Attribute|Index|Key|Name|NotImplemented|Type|Value|Runtime|ZeroDivision|Overflow)Error$))/;

function isTextPassed(name: string): boolean {
  return PASSED_CLASSES.test(name);
}

interface ReadFault {
  code: number | undefined;
  name: string;
  message: string;
  arguments: unknown[];
  context: object;
  debug: string;
}

/** Longest class name in characters. A longer text is not a class name. */
const NAME_LENGTH_MAX = 200;

function readFault(fault: unknown): ReadFault {
  const outer = isObject(fault) ? fault : {};
  const inner = isObject(outer['data']) ? outer['data'] : 'data' in outer ? {} : outer;
  const name = inner['name'];
  const raw = {
    name: typeof name === 'string' && name.length <= NAME_LENGTH_MAX ? name : '',
    message: typeof inner['message'] === 'string' ? inner['message'] : '',
    arguments: Array.isArray(inner['arguments']) ? inner['arguments'] : [],
  };
  return {
    code: typeof outer['code'] === 'number' ? outer['code'] : undefined,
    ...(inner === outer ? translateJson2Fault(raw) : raw),
    context: isObject(inner['context']) ? inner['context'] : {},
    debug: typeof inner['debug'] === 'string' ? inner['debug'] : '',
  };
}

/** Characters of a message that rules look at, so that a message of megabytes costs little. */
const MATCHED_LENGTH_MAX = 4_096;

function findRule(name: string, message: string, debug: string): FaultRule | undefined {
  const text = message.slice(0, MATCHED_LENGTH_MAX).trimEnd();
  const frame = findInnermostFrame({ name, message, debug });
  return FAULT_RULES.find(
    (rule) =>
      (rule.name?.test(name) ?? true) &&
      (rule.message?.test(text) ?? true) &&
      (rule.frame?.test(frame) ?? true),
  );
}

interface PassedTexts {
  /** The text from which the message of the answer is made. */
  summary: string;
  message: string;
  arguments: unknown[];
  context: { [name: string]: unknown };
}

function passTexts(
  type: BusinessErrorType,
  message: string,
  read: Pick<ReadFault, 'arguments' | 'context'>,
  cleaner: FaultCleaner,
): PassedTexts {
  const cleanMessage = cleaner.cleanText(message);
  const cleanArguments = cleaner.cleanValue(read.arguments) as unknown[];
  const [first] = cleanArguments;
  return {
    // The message of a RedirectWarning is the repr of all its arguments. The first argument is the text
    // (docs/odoo-facts.md#redirect-warning).
    summary: type === 'redirect_warning' && typeof first === 'string' ? first : cleanMessage,
    message: cleanMessage,
    arguments: cleanArguments,
    context: cleaner.cleanValue(read.context) as { [name: string]: unknown },
  };
}

function replaceTexts(type: BusinessErrorType): PassedTexts {
  const text = OWN_TEXTS[type];
  return { summary: text, message: text, arguments: [text], context: {} };
}

/**
 * The code depends only on the mistake: 19 sends 0 where 16 to 18 send 200 (docs/odoo-facts.md#error-code-order), and
 * /json/2 sends none.
 */
function chooseCode(code: number | undefined, name: string, rule: FaultRule | undefined): number {
  if (code === BUSINESS_CODES.session || name.endsWith('.SessionExpiredException'))
    return BUSINESS_CODES.session;
  // For a model or method, a NotFound of /json/2 is the same mistake as UserError and AttributeError of /jsonrpc.
  const isRouteMissing = code === BUSINESS_CODES.routeMissing || name === 'werkzeug.exceptions.NotFound';
  return isRouteMissing && rule === undefined ? BUSINESS_CODES.routeMissing : BUSINESS_CODES.error;
}
