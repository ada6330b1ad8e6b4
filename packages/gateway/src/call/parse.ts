/**
 * Step: parses the body's bytes into calls. All rules of docs/execute.md#members about the body's shape are here. The
 * meaning of arguments for a method is not (translate.ts). Values of `params` and `keyword` stay byte spans of the
 * body.
 */
import { BATCH_CALLS_MAX } from '@erp-proxy/contract';
import { URL_LENGTH_MAX } from '@erp-proxy/egress/policy';
import {
  findValue,
  JsonDepthError,
  type JsonDocument,
  type JsonMember,
  type JsonSpan,
  JsonSyntaxError,
  readDocument,
  readElements,
  readInteger,
  readMembers,
} from '@erp-proxy/json';
import { isLeftOut } from '@erp-proxy/odoo';
import { DATABASE_NAME } from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import type { Dialect } from '../terms/dialect.ts';
import type { NamedRecords } from '../terms/method-call.ts';
import {
  type Body,
  type CallSpan,
  NULL_ID,
  type ParsedCall,
  type PolicyTerms,
} from '../terms/parsed-body.ts';
import type { NamedInstance } from '../terms/target.ts';
import { readContext } from './parse-context.ts';
import { placeDomain, placeIds } from './place-arguments.ts';
import {
  API_KEY_LENGTH_MAX,
  checkCharacters,
  checkNames,
  describe,
  invalid,
  type KeywordSpan,
  NAME_LENGTH_MAX,
  OBJECT_MEMBERS_MAX,
  readId,
  readKeyword,
  readText,
} from './read-members.ts';
import { rewriteCall } from './rewrite-call.ts';

/** A call whose shape is valid. */
export interface Call extends PolicyTerms {
  /** The bytes that the spans refer to. */
  bytes: Uint8Array;
  model: string;
  /** The method to run: `action`, or `fn_name` of a `call_method`. */
  method: string;
  /** The positional arguments; null if the caller sent none. */
  params: JsonSpan | null;
  keyword: KeywordSpan;
  /** `keyword.limit`; null: no limit. */
  limit: number | null;
  /** The form of `keyword.ids`. The ids themselves are in `params`. */
  records: NamedRecords;
  instance: NamedInstance;
}

const COMMON_MEMBERS = ['id', 'action', 'model_id', 'fn_name', 'params', 'keyword'];
/** By the member that has the instance. */
const CALL_MEMBERS = {
  erp_instance: [...COMMON_MEMBERS, 'erp_instance'],
  odoo_instance: [...COMMON_MEMBERS, 'odoo_instance'],
  '': COMMON_MEMBERS,
};
/** Accepted and ignored, because JSON-RPC clients send it. */
const IGNORED_MEMBERS = ['jsonrpc'];
const INSTANCE_MEMBERS = ['url', 'db', 'user_id', 'api_key', 'name'];
const METHOD_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;
const MODEL_NAME = /^[A-Za-z0-9_.]+$/;
const USER_ID_MAX = 2 ** 31 - 1;
/** Python's JSON reader gives up near 1,000 levels, and Odoo answers that with an HTML page. */
const DEPTH_MAX = 512;

/**
 * Checks that a text is JSON. `consequence` completes the message about one that is nested too deeply. `what`: where
 * the text comes from.
 */
export function parseDocument(
  bytes: Uint8Array,
  depthMax: number,
  consequence = '',
  what = 'body',
): JsonDocument | Denial {
  try {
    return readDocument(bytes, depthMax);
  } catch (error) {
    if (error instanceof JsonDepthError) {
      return invalid('', `The ${what} is nested more than ${depthMax} levels deep${consequence}.`);
    }
    if (!(error instanceof JsonSyntaxError)) throw error;
    return new Denial(
      'parse_error',
      `The ${what} is not valid JSON at byte ${error.offset}: ${error.reason}.`,
    );
  }
}

/** Reads the document: one call or a batch. */
export function parseBody(bytes: Uint8Array): Body | Denial {
  const document = parseDocument(bytes, DEPTH_MAX, ', which Odoo cannot read');
  if (document instanceof Denial) return document;
  const { root, members } = document;
  if (root.kind === 'object') return { bytes, isBatch: false, calls: [{ span: root, members }] };
  if (root.kind !== 'array') {
    return invalid('', `The body must be an object (one call) or an array of calls, not ${describe(root)}.`);
  }
  const calls: CallSpan[] = [];
  readElements(bytes, root, (span) => {
    calls.push({ span, members: null });
    return calls.length <= BATCH_CALLS_MAX;
  });
  if (calls.length === 0) return invalid('', 'The batch is empty; send at least one call.');
  if (calls.length > BATCH_CALLS_MAX) {
    return invalid('', `A batch may hold at most ${BATCH_CALLS_MAX} calls; send the rest in another.`);
  }
  return { bytes, isBatch: true, calls };
}

/** Reads one call of the body. */
export function parseCall(
  bytes: Uint8Array,
  { span, members: known }: CallSpan,
  { instanceAt }: Dialect,
): ParsedCall<Call> {
  if (span.kind !== 'object') {
    return { id: NULL_ID, call: invalid('', `A call must be an object, not ${describe(span)}.`) };
  }
  const members = known ?? readMembers(bytes, span, OBJECT_MEMBERS_MAX);
  const id = readId(bytes, members);
  if (id instanceof Denial) return { id: NULL_ID, call: id };
  return { id, call: readCall(bytes, members, instanceAt) };
}

function readCall(
  bytes: Uint8Array,
  members: JsonMember[],
  instanceAt: Dialect['instanceAt'],
): Call | Denial {
  const namesDenial = checkNames(members, '', CALL_MEMBERS[instanceAt], IGNORED_MEMBERS);
  if (namesDenial) return namesDenial;

  const method = readMethod(bytes, findValue(members, 'action'), findValue(members, 'fn_name'));
  if (method instanceof Denial) return method;
  const model = readModel(bytes, findValue(members, 'model_id'));
  if (model instanceof Denial) return model;
  const params = readParams(findValue(members, 'params'));
  if (params instanceof Denial) return params;
  const keyword = readKeyword(bytes, findValue(members, 'keyword'), 'keyword');
  if (keyword instanceof Denial) return keyword;
  const charactersDenial =
    checkCharacters(bytes, params, 'params') ?? checkCharacters(bytes, keyword.span, 'keyword');
  if (charactersDenial) return charactersDenial;
  const instance = readInstance(bytes, findValue(members, instanceAt), instanceAt);
  if (instance instanceof Denial) return instance;
  const limit = readLimit(bytes, keyword);
  if (limit instanceof Denial) return limit;
  const context = findValue(keyword.members, 'context');
  const sent = context && readContext(bytes, context);
  if (sent instanceof Denial) return sent;
  const given = { bytes, params, keyword };
  const changed = sent ? rewriteCall(given, new Map([['context', sent]]), null) : given;
  const placed = placeIds(model, method, placeDomain(method, changed));
  return placed instanceof Denial ? placed : { ...placed, model, method, limit, instance };
}

function readMethod(bytes: Uint8Array, action?: JsonSpan, fnName?: JsonSpan): string | Denial {
  const name = readText(bytes, action, 'action', NAME_LENGTH_MAX, 'the method to run, e.g. "search_read"');
  if (name instanceof Denial) return name;
  if (fnName !== undefined && fnName.kind !== 'null' && fnName.kind !== 'string') {
    return invalid('fn_name', `\`fn_name\` must be a string or null, not ${describe(fnName)}.`);
  }
  const hasFnName = fnName?.kind === 'string' && fnName.end - fnName.start > 2;
  if (name !== 'call_method') {
    if (hasFnName) {
      return invalid(
        'fn_name',
        '`fn_name` goes with the action "call_method" only; leave it out or use that action.',
      );
    }
    return METHOD_NAME.test(name) ? name : refuseMethod('action');
  }
  if (!hasFnName) {
    return new Denial(
      'fn_name_missing',
      'The action "call_method" needs `fn_name`, the name of the method.',
      {
        path: 'fn_name',
      },
    );
  }
  const method = readText(bytes, fnName, 'fn_name', NAME_LENGTH_MAX, 'the method to run');
  if (method instanceof Denial) return method;
  return METHOD_NAME.test(method) ? method : refuseMethod('fn_name');
}

function refuseMethod(path: string): Denial {
  return new Denial(
    'action_invalid',
    `\`${path}\` must be the name of a public method: letters, digits and "_", beginning with a letter.`,
    { path },
  );
}

function readModel(bytes: Uint8Array, value?: JsonSpan): string | Denial {
  const model = readText(bytes, value, 'model_id', NAME_LENGTH_MAX, 'a model, e.g. "res.partner"');
  if (model instanceof Denial || MODEL_NAME.test(model)) return model;
  return invalid('model_id', '`model_id` may have letters, digits, "_" and "." only, e.g. "res.partner".');
}

function readParams(value?: JsonSpan): JsonSpan | null | Denial {
  if (value === undefined || value.kind === 'null') return null;
  if (value.kind === 'array') return value;
  return invalid(
    'params',
    `\`params\` must be an array of positional arguments, e.g. [[1, 2]] for read, not ${describe(value)}.`,
  );
}

function readLimit(bytes: Uint8Array, keyword: KeywordSpan): number | null | Denial {
  const value = findValue(keyword.members, 'limit');
  if (value === undefined || isLeftOut(value)) return null;
  const limit = value.kind === 'number' ? readInteger(bytes, value) : null;
  if (limit === null || limit < 0) {
    return new Denial(
      'invalid_params',
      '`keyword.limit` must be a non-negative integer; 0 or null means no cap.',
      {
        path: 'keyword.limit',
      },
    );
  }
  // No list has more than 2^53 entries, so a rounded larger limit has the same effect.
  return limit === 0 || limit === 0n ? null : Number(limit);
}

/** Errors name the members as on the proxy's own route. They are renamed when the answer is built (dialect.ts). */
function readInstance(bytes: Uint8Array, value: JsonSpan | undefined, at: string): NamedInstance | Denial {
  if (value === undefined || value.kind === 'null') {
    return invalid(at, `\`${at}\` is missing: {"url", "db", "user_id", "api_key"} of the Odoo server.`);
  }
  if (value.kind !== 'object') {
    return invalid(at, `\`${at}\` must be an object, not ${describe(value)}.`);
  }
  const members = readMembers(bytes, value, OBJECT_MEMBERS_MAX);
  const namesDenial = checkNames(members, at, INSTANCE_MEMBERS);
  if (namesDenial) return namesDenial;
  if (findValue(members, 'name') !== undefined) return readInstanceName(bytes, members, at);

  const url = readText(
    bytes,
    findValue(members, 'url'),
    'erp_instance.url',
    URL_LENGTH_MAX,
    'the address of the Odoo server',
  );
  if (url instanceof Denial) return url;
  const db = readText(
    bytes,
    findValue(members, 'db'),
    'erp_instance.db',
    NAME_LENGTH_MAX,
    "the database's name",
  );
  if (db instanceof Denial) return db;
  if (!DATABASE_NAME.test(db)) {
    return invalid(
      'erp_instance.db',
      '`erp_instance.db` must be the name of a database: 1 to 63 of letters, digits, "_", "." and "-".',
    );
  }
  const userId = readUserId(bytes, findValue(members, 'user_id'));
  if (userId instanceof Denial) return userId;
  const apiKey = readText(
    bytes,
    findValue(members, 'api_key'),
    'erp_instance.api_key',
    API_KEY_LENGTH_MAX,
    "the user's API key",
  );
  if (apiKey instanceof Denial) return apiKey;
  return { url, db, userId, apiKey };
}

function readInstanceName(
  bytes: Uint8Array,
  members: readonly JsonMember[],
  at: string,
): { name: string } | Denial {
  const name = readText(
    bytes,
    findValue(members, 'name'),
    'erp_instance.name',
    NAME_LENGTH_MAX,
    'the name of an instance',
  );
  if (name instanceof Denial) return name;
  if (members.length > 1) {
    return invalid(at, `\`${at}\` takes either \`name\` or {"url", "db", "user_id", "api_key"}, not both.`);
  }
  return { name };
}

function readUserId(bytes: Uint8Array, value?: JsonSpan): number | Denial {
  const path = 'erp_instance.user_id';
  if (value === undefined)
    return invalid(path, "`erp_instance.user_id` is missing: the user's number in Odoo.");
  const userId = value.kind === 'number' ? readInteger(bytes, value) : null;
  if (userId === null || userId < 1 || userId > USER_ID_MAX) {
    const found = value.kind === 'number' ? '' : `, not ${describe(value)}`;
    return invalid(
      path,
      `\`erp_instance.user_id\` must be the user's number in Odoo, a positive integer such as 2${found}.`,
    );
  }
  return Number(userId);
}
