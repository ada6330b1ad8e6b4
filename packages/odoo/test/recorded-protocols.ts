/**
 * The operations of Odoo 19 that were recorded over /json/2 or as an execute_kw of /jsonrpc, for tests that compare
 * both.
 */
import { readFileSync } from 'node:fs';
import { type JsonSpan, readDocument, readElements, readMembers } from '@erp-proxy/json';

export interface RecordedJson2 {
  name: string;
  path: string;
  sent: string;
  status: number;
  contentType: string;
  location: string;
  body: string;
}

export interface RecordedExecuteKw {
  name: string;
  model: string;
  method: string;
  /** The arguments as sent. */
  params: Uint8Array;
  keyword: Uint8Array;
  /** The value as printed (`null` for None), or the `error` member. */
  answer: { result: string } | { error: unknown };
}

const lines: (RecordedJson2 & { protocol: string })[] = readFileSync(
  new URL('./data/protocols-19.0.jsonl', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));

export const recordedJson2: readonly RecordedJson2[] = lines.filter(({ protocol }) => protocol === 'json2');

export const recordedExecuteKw: readonly RecordedExecuteKw[] = lines
  .filter(({ protocol }) => protocol === 'jsonrpc')
  .map(readExecuteKw)
  .filter((call) => call !== null);

/** Null if the arguments are not a call on a model. */
function readExecuteKw({ name, sent, body }: RecordedJson2): RecordedExecuteKw | null {
  const request = Buffer.from(sent);
  const args = readArray(request, findMember(request, readDocument(request).root, ['params', 'args'])!);
  const [, , , model, method, params, keyword] = args;
  if (model === undefined || method === undefined || params?.kind !== 'array') return null;
  const answer = JSON.parse(body);
  const { root } = readDocument(Buffer.from(body));
  const result = findMember(Buffer.from(body), root, ['result']);
  return {
    name,
    model: JSON.parse(cut(request, model)),
    method: JSON.parse(cut(request, method)),
    params: request.subarray(params.start, params.end),
    keyword: keyword?.kind === 'object' ? request.subarray(keyword.start, keyword.end) : Buffer.from('{}'),
    answer: 'error' in answer ? answer : { result: result ? cut(Buffer.from(body), result) : 'null' },
  };
}

function findMember(bytes: Uint8Array, object: JsonSpan, [first, ...rest]: string[]): JsonSpan | undefined {
  const value = readMembers(bytes, object).find(({ name }) => name === first)?.value;
  return value === undefined || rest.length === 0 ? value : findMember(bytes, value, rest);
}

function readArray(bytes: Uint8Array, array: JsonSpan): JsonSpan[] {
  const elements: JsonSpan[] = [];
  readElements(bytes, array, (element) => {
    elements.push(element);
    return true;
  });
  return elements;
}

function cut(bytes: Buffer, { start, end }: JsonSpan): string {
  return bytes.toString('utf8', start, end);
}
