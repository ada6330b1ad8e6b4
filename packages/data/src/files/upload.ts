/**
 * Serves `POST /api/erp/upload`: the body of the request is a file, and a header contains the other members of the
 * call. Writes the file into a binary field of a record, or creates a record with it.
 */

import { AnswerCollector } from '@erp-proxy/async/streams';
import { cutText } from '@erp-proxy/contract';
import { invalid } from '@erp-proxy/gateway/call';
import { type CallRunner, Denial, NULL_ID } from '@erp-proxy/gateway/terms';
import { findDuplicate, findValue, readMembers } from '@erp-proxy/json';
import { frameCall } from '../ask-odoo.ts';
import { type DataRequest, readDataRequest, readMemberBytes } from '../data-request.ts';
import { nameMembers } from '../name-members.ts';
import { encodeBase64 } from './base64.ts';
import { chooseFileField } from './file-field.ts';
import { readFileMembers } from './file-members.ts';

const CALL_HEADER = 'x-erp-call';
const MEMBERS = ['record', 'field', 'values', 'context'];
/** Maximum of the answer, which is the id of a record, or an error. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** More fields than any model has. */
const VALUES_MAX = 2000;

export async function upload(runner: CallRunner): Promise<null> {
  const call = readHeader(runner.exchange);
  if (call instanceof Denial) {
    runner.refuse(call, NULL_ID);
    return null;
  }
  const request = readDataRequest(call, MEMBERS, `header \`${CALL_HEADER}\``);
  const denial = 'denial' in request ? request.denial : await send(request, runner);
  if (denial !== null) runner.refuse(denial, request.id);
  return null;
}

/** Returns null after the answer was sent. */
async function send(request: DataRequest, runner: CallRunner): Promise<Denial | null> {
  const members = readFileMembers(request);
  if (members instanceof Denial) return members;
  const { field: named, record } = members;
  const values = readValues(request, named);
  if (values instanceof Denial) return values;
  const context = readMemberBytes(request, 'context');
  const keyword = context === null ? {} : { context };
  const call = frameCall(request, { method: record === null ? 'create' : 'write', keyword });
  const { head, tail } = frameValues(values, named, record);
  const found = await runner.findFields(Buffer.concat([call.head, head, tail, call.tail]), [named]);
  const { field, ...refused } = chooseFileField(request.model, named, found, 'write');
  const params = frameValues(values, field, record);
  // Written once, in slices: copying a large file takes long.
  const body = await encodeBase64(
    Buffer.concat([call.head, params.head]),
    runner.bytes,
    Buffer.concat([params.tail, call.tail]),
  );
  const { writer } = runner.exchange;
  const answer = new AnswerCollector(ANSWER_BYTES_MAX);
  const denial = await runner.run(body, answer, refused);
  if (denial !== null) return denial;
  if (!answer.isWhole || answer.isTooLarge) return BROKEN_OFF;
  const headers = { ...answer.headers, ...runner.describe() };
  const answered = answer.join();
  const isWritten = record !== null && hasResult(answered);
  const sent = isWritten ? answerRecord(request.id, record) : nameMembers(answered, 'values');
  writer.sendWhole(answer.status, headers, sent);
  return null;
}

/** Prints the positional arguments of `create` or `write`, as the bytes before and after the digits of the file. */
function frameValues(
  values: Uint8Array,
  field: string,
  record: number | null,
): { head: Uint8Array; tail: Uint8Array } {
  const inner = Buffer.from(values.buffer, values.byteOffset, values.length)
    .toString('utf8')
    .trim()
    .slice(1, -1);
  const others = inner.trim() === '' ? '' : `${inner},`;
  const ids = record === null ? '' : `[${record}],`;
  return { head: Buffer.from(`[${ids}{${others}"${field}":"`), tail: Buffer.from('"}]') };
}

/** Reads the values of the other fields, as JSON text. */
function readValues(request: DataRequest, field: string): Uint8Array | Denial {
  const bytes = readMemberBytes(request, 'values') ?? Buffer.from('{}');
  if (findValue(request.members, 'values') !== undefined && bytes[0] !== OPEN_OBJECT) {
    return invalid('values', '`values` must be an object with the values of further fields.');
  }
  const members = readMembers(bytes, { kind: 'object', start: 0, end: bytes.length }, VALUES_MAX + 1);
  if (members.length > VALUES_MAX)
    return invalid('values', `\`values\` may have at most ${VALUES_MAX} fields.`);
  const twice = findDuplicate(members);
  if (twice !== null)
    return invalid('values', `\`values\` has the field "${cutText(twice.name, 64)}" twice.`);
  if (findValue(members, field) === undefined) return bytes;
  return invalid(
    `values.${field}`,
    `\`values\` has \`${field}\` as well; its value is the body of the request.`,
  );
}

const OPEN_OBJECT = 0x7b;

/** Reads the header. It is percent-encoded JSON, because headers have ASCII characters only. */
function readHeader(exchange: CallRunner['exchange']): Uint8Array | Denial {
  const text = exchange.header(CALL_HEADER);
  if (text === undefined) {
    return new Denial(
      'invalid_request',
      `The header \`${CALL_HEADER}\` is missing: the call as percent-encoded JSON, {"model_id", "field", "erp_instance", …}.`,
      { path: CALL_HEADER },
    );
  }
  if (exchange.countHeader(CALL_HEADER) > 1) {
    return new Denial('invalid_request', `The header \`${CALL_HEADER}\` appears twice; send it once.`, {
      path: CALL_HEADER,
    });
  }
  // Unencoded text is refused: Node reads each byte of a header as one character, and a `%` in unencoded JSON may stand
  // for itself.
  if (NOT_ASCII.test(text) || (PLAIN_JSON.test(text) && text.includes('%'))) return NOT_ENCODED;
  try {
    return Buffer.from(decodeURIComponent(text));
  } catch {
    return NOT_ENCODED;
  }
}

const NOT_ASCII = /[^\t\x20-\x7e]/;
const PLAIN_JSON = /^\s*\{/;
const NOT_ENCODED = new Denial(
  'parse_error',
  `The header \`${CALL_HEADER}\` is not percent-encoded UTF-8: encode it as encodeURIComponent does.`,
  { path: CALL_HEADER },
);

function hasResult(body: Uint8Array): boolean {
  const members = readMembers(body, { kind: 'object', start: 0, end: body.length });
  return findValue(members, 'result') !== undefined;
}

function answerRecord(id: Uint8Array, record: number): Uint8Array {
  return Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":'), id, Buffer.from(`,"result":${record}}`)]);
}

const BROKEN_OFF = new Denial(
  'upstream_unreachable',
  'The answer of Odoo broke off. Odoo may have written the file: look before you send it again, or send it with `idempotency-key`.',
  { outcome: 'unknown' },
);
