/** Compares the body of an answer with the recorded one: every byte if it contains no data, otherwise its shape. */
import { expect } from 'vitest';
import { readJson } from '../src/json/read-json.ts';
import { isObject, type Json, type JsonObject } from '../src/json/value.ts';
import type { Answer } from './exchange.ts';
import { expectSamePage } from './same-page.ts';
import { findShapeDifference } from './same-shape.ts';

const cut = '…[cut by recorder]…';

export function expectSameBody({ body: ours }: Answer, { body: recorded, headers }: Answer): void {
  if (recorded === '') {
    expect(ours).toBe('');
    return;
  }
  const isJson = headers.some(([name, value]) => name === 'Content-Type' && value.includes('json'));
  if (!isJson) {
    // Pages of the web site differ by theme. Their headers identify them.
    if (recorded.length < 1000) expect(ours).toBe(recorded);
    return;
  }
  if (headers.some(([name]) => name === 'ETag')) {
    expectSamePage(ours, recorded);
    return;
  }
  if (recorded.includes(cut) && !recorded.includes('"debug"')) {
    const firstRecord = (text: string) => readJson(/\{"id".*?\}(?=, \{|\])/.exec(text)?.[0] ?? '[]');
    const envelopeLength = recorded.startsWith('{') ? 40 : 2;
    expect(ours.slice(0, envelopeLength)).toBe(recorded.slice(0, envelopeLength));
    expect(findShapeDifference(firstRecord(recorded), firstRecord(ours))).toBeUndefined();
    return;
  }
  // The answer has no data of the database: every byte must be equal, including the echoed id.
  if (recorded.includes('"server_version"')) expect(ours).toBe(recorded);
  const [found, wanted] = [readJson(ours), readJson(recorded)];
  if (isObject(wanted) && 'jsonrpc' in wanted) expectSameEnvelope(found, wanted);
  else if (isObject(wanted) && 'debug' in wanted) expect(describeFault(found)).toEqual(describeFault(wanted));
  else {
    expect(typeof found).toBe(typeof wanted);
    expect(findShapeDifference(wanted, found)).toBeUndefined();
  }
}

function expectSameEnvelope(found: Json, wanted: JsonObject): void {
  if (!isObject(found)) throw new Error('no object');
  expect(Object.keys(found)).toEqual(Object.keys(wanted));
  expect(found['id'] ?? null).toEqual(wanted['id'] ?? null);
  const error = wanted['error'] ?? null;
  if (isObject(error)) expect(describeError(found['error'] as Json)).toEqual(describeError(error));
  else if ('result' in wanted)
    expect(findShapeDifference(wanted['result'] as Json, found['result'] as Json)).toBeUndefined();
  else expect(findShapeDifference(wanted, found)).toBeUndefined();
}

function describeError(error: Json): unknown {
  const { code, message, data = null } = error as JsonObject;
  return { members: Object.keys(error as JsonObject), code, message, ...describeFault(data) };
}

/** All of a fault except what depends on the data: digits and the traceback. */
function describeFault(data: Json) {
  const { debug, message, ...rest } = data as JsonObject;
  const args = rest['arguments'] as readonly Json[];
  return {
    order: Object.keys(data as JsonObject),
    name: rest['name'],
    text: hideData(String(message)),
    argumentCount: args.length,
    httpStatus: String(rest['name']).startsWith('werkzeug.') ? args[1] : undefined,
    hasTraceback: String(debug).startsWith('Traceback'),
  };
}

function hideData(text: string): string {
  return text.replace('Low Priv', 'Marc Demo').replace(/\d+/g, '0');
}
