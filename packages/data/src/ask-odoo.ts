/**
 * Makes one call of a request that moves data, and collects its answer. The call passes the execute pipeline, so that
 * policy, limits and audit apply as to any other call.
 */

import { AnswerCollector } from '@erp-proxy/async/streams';
import { type AnswerFacts, type CallRunner, Denial, type RunOptions } from '@erp-proxy/gateway/terms';
import { readMembers } from '@erp-proxy/json';
import { type DataRequest, readMemberBytes } from './data-request.ts';

/** One call on the model and the server that the request names. */
export interface Question {
  method: string;
  /** JSON text of the positional arguments. Default: none. */
  params?: Uint8Array | string;
  /** Named arguments: JSON texts by name. */
  keyword: Readonly<Record<string, Uint8Array | string>>;
}

/** Why a call has no result. */
export type QuestionFailure =
  /** An error answer as a whole, with the `id` of the request. */
  | { status: number; headers: Record<string, string>; error: Uint8Array }
  /** `isTooLarge`: the answer is larger than the maximum. */
  | { denial: Denial; isTooLarge?: true };

/** The JSON text of the result, or why there is none. `facts`: null if no call was sent. */
export type QuestionAnswer =
  | { result: Uint8Array; headers: Record<string, string>; facts: AnswerFacts | null }
  | QuestionFailure;

/** Never rejects. An answer of more than `bytesMax` becomes a denial. */
export async function askOdoo(
  runner: CallRunner,
  request: DataRequest,
  question: Question,
  bytesMax: number,
  options?: Omit<RunOptions, 'onAnswer'>,
): Promise<QuestionAnswer> {
  const writer = new AnswerCollector(bytesMax, 'cancelled');
  let facts: AnswerFacts | null = null;
  const denial = await runner.run(buildCall(request, question), writer, {
    ...options,
    onAnswer(seen) {
      facts = seen;
    },
  });
  if (denial !== null) return { denial };
  if (writer.isTooLarge) return { denial: denyTooLarge(bytesMax), isTooLarge: true };
  if (!writer.isWhole) return { denial: BROKEN_OFF };
  const bytes = writer.join();
  const result = findResult(bytes);
  const { status, headers } = writer;
  return result === null ? { status, headers, error: bytes } : { result, headers, facts };
}

/** Builds the body of an execute call on the model and the server of the request, with the request's `id`. */
export function buildCall(request: DataRequest, { params = '[]', ...question }: Question): Uint8Array {
  const { head, tail } = frameCall(request, question);
  return joinParts([head, params, tail]);
}

/** The bytes of an execute call before and after its `params`. */
export function frameCall(
  request: DataRequest,
  { method, keyword }: Omit<Question, 'params'>,
): { head: Uint8Array; tail: Uint8Array } {
  const action = `,"action":${JSON.stringify(method)},"model_id":${JSON.stringify(request.model)},"params":`;
  const head = joinParts(['{"id":', request.id, action]);
  const tail: (Uint8Array | string)[] = [',"keyword":{'];
  let separator = '';
  for (const [name, value] of Object.entries(keyword)) {
    tail.push(separator, JSON.stringify(name), ':', value);
    separator = ',';
  }
  tail.push('},"erp_instance":', readMemberBytes(request, 'erp_instance') ?? 'null', '}');
  return { head, tail: joinParts(tail) };
}

function joinParts(parts: readonly (Uint8Array | string)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

/**
 * The span of `result`; null for an error. The proxy has made the envelope: `result` is its last member. Does not read
 * the value, which can be long.
 */
function findResult(bytes: Uint8Array): Uint8Array | null {
  const envelope = { kind: 'object', start: 0, end: bytes.length } as const;
  const id = readMembers(bytes, envelope, MEMBERS_BEFORE_RESULT).at(-1);
  if (id === undefined) return null;
  const start = id.value.end + RESULT_START.length;
  if (!RESULT_START.equals(bytes.subarray(id.value.end, start))) return null;
  // White space may follow the envelope. A native search finds its end fast, however long the white space is.
  const end = bytes.lastIndexOf(CLOSE_OBJECT);
  return end > start ? bytes.subarray(start, end) : null;
}

/** The members before `result`: `jsonrpc` and `id`. */
const MEMBERS_BEFORE_RESULT = 2;
const RESULT_START = Buffer.from(',"result":');
const CLOSE_OBJECT = 0x7d;

function denyTooLarge(bytesMax: number): Denial {
  return new Denial(
    'upstream_bad_response',
    `An answer of Odoo is larger than ${bytesMax / 2 ** 20} MiB: ask for fewer fields.`,
    { outcome: 'unknown', isReadOnly: false, detail: 'answer too large' },
  );
}

const BROKEN_OFF = new Denial(
  'upstream_unreachable',
  'An answer of Odoo broke off; send the request again.',
  {
    isReadOnly: true,
  },
);
