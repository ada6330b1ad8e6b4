/** Fuzzes the readers of Odoo's answers: none throws, and no fault passes on a secret or a place in the server. */
import { isDeepStrictEqual } from 'node:util';
import { JsonSyntaxError, readDocument } from '@erp-proxy/json';
import type { FuzzTarget } from '../../wire/test/fuzz/fuzz.ts';
import {
  classifyFault,
  classifyOwnJson2Fault,
  createFaultCleaner,
  findUnknownName,
  parseFault,
} from '../src/faults/index.ts';
import { classifyJson2Answer, readUserId, unwrapOne } from '../src/json2/index.ts';
import { matchResultHead, readSignIn } from '../src/jsonrpc/index.ts';
import { readJsonrpcVersion, readJsonVersion, readSerie } from '../src/servers/index.ts';
import { readDocPage } from '../src/signatures/index.ts';

const SECRET = 'f81c1a0de5b94c0fa1ab9c55d2e74eb30d6c8a77';
const OPTIONS = { debug: false, secrets: [SECRET] };
const SERVER_FILE = '/usr/lib/python3/dist-packages/odoo/models.py';
/** What never reaches a caller. A path counts where it is a word of its own: an address may contain it. */
const INTERNAL = [
  SECRET,
  'Traceback (most recent call last)',
  /(?<=[\s"]|^)\/usr\/lib\/python3\/[\w./-]+\.py(?=[\s"]|$)/,
];

const FAULT = JSON.stringify({
  code: 200,
  message: 'Odoo Server Error',
  data: {
    name: 'odoo.exceptions.ValidationError',
    message: `wrong key ${SECRET}`,
    arguments: [`wrong key ${SECRET}`, { [SECRET]: null }],
    context: { key: SECRET },
    debug: `Traceback (most recent call last):\n  File "${SERVER_FILE}", line 1, in read\nValueError: ${SECRET}\n`,
  },
});
const JSON2_FAULT = JSON.stringify({ ...JSON.parse(FAULT).data, name: 'werkzeug.exceptions.NotFound' });
const WORDS = [
  ...'{}[],:"\\ \n',
  SECRET,
  SERVER_FILE,
  SECRET.slice(0, 20),
  `  File \\"${SERVER_FILE}\\", line 1, in read\\n`,
  'Traceback (most recent call last):\\n',
  '"data":{',
  '"name":',
  '"message":',
  '"arguments":[',
  '"context":{',
  '"debug":',
  '"jsonrpc":"2.0","id":1,',
  '"result":',
  '"error":',
  '"odoo.exceptions.AccessError"',
  '"psycopg2.errors.SerializationFailure"',
  '"builtins.KeyError"',
  "Invalid field 'x' on model 'res.partner'",
  "The method 'res.partner.x' does not exist",
  'SELECT id FROM res_users',
  'null',
  'false',
  '7',
  '\\u0000',
  '\\ud83d',
];

const FAULTS: FuzzTarget = {
  name: 'fault',
  seeds: [FAULT, FAULT.replace('odoo.exceptions.ValidationError', 'builtins.TypeError')],
  words: WORDS,
  run(input) {
    const fault = readJson(input);
    if (fault === undefined) return ['no JSON'];
    const classified = expectClean(classifyFault(fault, OPTIONS));
    const { code, data, message } = classified;
    const cleaner = createFaultCleaner([SECRET]);
    expectClean(cleaner.cleanValue(fault), [SECRET]);
    expectClean(cleaner.cleanDebug(JSON.stringify(fault)), [SECRET]);
    const unknown = findUnknownName(classified, { model: 'res.partner', method: 'write' });
    return [`${data.type} ${code} ${message === ''} ${unknown !== null}`];
  },
};

const JSON2_ANSWERS: FuzzTarget = {
  name: 'json2-answer',
  // The first byte selects the status, the second one the type.
  seeds: [
    `\0\0${JSON2_FAULT}`,
    `\x01\0${FAULT}`,
    '\x02\0[7]',
    '\x03\x01<html>No database is selected</html>',
  ],
  words: [...WORDS, '<html>', 'No database is selected', '"werkzeug.exceptions.NotFound"'],
  run(input) {
    const STATUSES = [404, 422, 200, 403, 500, 303, 401, 429, 502];
    const status = STATUSES[(input[0] ?? 0) % STATUSES.length] as number;
    const type = (input[1] ?? 0) % 2 === 0 ? 'application/json' : 'text/html';
    const body = input.subarray(2);
    const answer = classifyJson2Answer({ status, headers: { 'content-type': type }, body }, OPTIONS);
    expectClean(answer);
    if ('fault' in answer && readJson(body) !== undefined)
      expectClean(classifyOwnJson2Fault(body, answer.fault, OPTIONS));
    unwrapOne(body);
    return [`${status} ${type} ${answer.kind} ${'fault' in answer ? answer.fault.data.type : ''}`];
  },
};

const JSONRPC_ANSWERS: FuzzTarget = {
  name: 'jsonrpc-answer',
  seeds: [
    '{"jsonrpc":"2.0","id":1,"result":7}',
    `{"jsonrpc": "2.0", "id": 1, "error": ${FAULT}}`,
    '{"jsonrpc":"2.0","id":1}',
  ],
  words: WORDS,
  run(input) {
    const whole = matchResultHead(input);
    // More bytes change nothing that was decided.
    for (let length = 1; length < input.length && length < 64; length++) {
      const head = matchResultHead(input.subarray(0, length));
      const isUndecided = head.kind === 'more' || head.kind === 'empty';
      if (!isUndecided && !isDeepStrictEqual(head, whole))
        throw new Error(`${JSON.stringify(head)} after ${length} bytes, then ${JSON.stringify(whole)}`);
    }
    const answer = readJson(input) as Record<string, unknown> | undefined;
    if (answer !== undefined && whole.kind === 'result' && !('result' in answer))
      throw new Error('has no result');
    readSignIn(input);
    readUserId(input);
    const versions = [readJsonrpcVersion(input), readJsonVersion(input)];
    for (const version of versions) if (version !== null) readSerie(version);
    return [`${whole.kind} ${answer !== undefined}`];
  },
};

const DOC_PAGES: FuzzTarget = {
  name: 'doc-page',
  seeds: [
    '{"model":"res.partner","methods":{"read":{"parameters":{"fields":{"kind":"POSITIONAL_OR_KEYWORD","default":null}},"api":["model"]}}}',
  ],
  words: [
    ...'{}[],:"',
    '"parameters":',
    '"kind":',
    '"default":',
    '"api":',
    '"model"',
    '"readonly"',
    'KEYWORD_ONLY',
    'VAR_KEYWORD',
    'VAR_POSITIONAL',
    '__proto__',
    'null',
  ],
  run(input) {
    const page = readDocPage(input, 'res.partner');
    if ('refusal' in page) return [page.refusal];
    return [...page.signatures.values()].map((signature) => Object.keys(signature).join());
  },
};

/** Undefined: it is no JSON. */
function readJson(bytes: Buffer): unknown {
  try {
    return parseFault(bytes, readDocument(bytes).root);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function expectClean<Value>(value: Value, internal: readonly (string | RegExp)[] = INTERNAL): Value {
  for (const text of listTexts(value)) {
    const found = internal.find((part) => (typeof part === 'string' ? text.includes(part) : part.test(text)));
    if (found !== undefined) throw new Error(`passes on ${found}`);
  }
  return value;
}

/** All texts of a JSON value, with the names of members. */
function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...listTexts(member)]);
}

export const ODOO_TARGETS: readonly FuzzTarget[] = [FAULTS, JSON2_ANSWERS, JSONRPC_ANSWERS, DOC_PAGES];
