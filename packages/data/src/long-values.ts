/** Reads JSON values of megabytes in slices: one long value must not keep other callers waiting. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  isScalar,
  type JsonMember,
  type JsonSpan,
  readMembers,
  readMembersInSlices,
  skipValue,
  skipValueInSlices,
} from '@erp-proxy/json';

const SLICE_BYTES = 128 * 1024;

/** Finds the end of a value like skipValue. Returns a promise only for a long value. */
export function findEnd(bytes: Uint8Array, start: number): number | Promise<number> {
  const sliceEnd = start + SLICE_BYTES;
  // Numbers and words are short: no need for a view of the slice.
  if (sliceEnd >= bytes.length || isScalar(bytes, start)) return skipValue(bytes, start);
  const end = skipValue(bytes.subarray(0, sliceEnd), start);
  return end < sliceEnd ? end : runSlices(skipValueInSlices(bytes, start, SLICE_BYTES));
}

/** Lists the members of an object like readMembers. An unusually long name is replaced by an empty one. */
export function listMembers(
  bytes: Uint8Array,
  object: JsonSpan,
  countMax = Number.POSITIVE_INFINITY,
): JsonMember[] | Promise<JsonMember[]> {
  return object.end - object.start <= SLICE_BYTES
    ? readMembers(bytes, object, countMax)
    : runSlices(readMembersInSlices(bytes, object, countMax, SLICE_BYTES));
}

async function runSlices<Result>(slices: Generator<undefined, Result, undefined>): Promise<Result> {
  for (let step = slices.next(); ; step = slices.next()) {
    if (step.done) return step.value;
    await yieldToEventLoop();
  }
}
