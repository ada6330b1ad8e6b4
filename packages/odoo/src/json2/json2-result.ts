/**
 * The one difference between the results of `/json/2` and `/jsonrpc` (docs/odoo-facts.md#json2-null,
 * docs/odoo-facts.md#create-result): for the values of one record, `create` returns a list over `/json/2` and a number
 * over `/jsonrpc`. All other results are the same bytes; None is `null` here.
 */
import { type JsonSpan, JsonSyntaxError, readDocument, readElements } from '@erp-proxy/json';

/**
 * `same`: pass on as it arrives. `unwrap_one`: a few bytes, which must be read completely and passed to {@link
 * unwrapOne}.
 */
export type ResultShape = 'same' | 'unwrap_one';

/** `params` is a JSON array without surrounding white space: the positional arguments. */
export function chooseResultShape(method: string, params: Uint8Array): ResultShape {
  if (method !== 'create') return 'same';
  let shape: ResultShape = 'same';
  readElements(params, { kind: 'array', start: 0, end: params.length }, ({ kind }) => {
    if (kind === 'object') shape = 'unwrap_one';
    return false;
  });
  return shape;
}

const FALSE = Buffer.from('false');

/**
 * The number in `[82]`, as its bytes; `false` for `[]`, which is the `id` of an empty recordset. Null for anything
 * else: the record may exist, with an unknown id.
 */
export function unwrapOne(bytes: Uint8Array): Uint8Array | null {
  const elements: JsonSpan[] = [];
  try {
    const { root } = readDocument(bytes);
    if (root.kind !== 'array') return null;
    readElements(bytes, root, (element) => {
      elements.push(element);
      return elements.length < 2;
    });
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
  const [only, second] = elements;
  if (only === undefined) return FALSE;
  return only.kind === 'number' && second === undefined ? bytes.subarray(only.start, only.end) : null;
}
