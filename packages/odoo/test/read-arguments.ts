/** Reads arguments from the text of `params` and `keyword`. */
import { type JsonSpan, readElements, readMembers } from '@erp-proxy/json';
import { type Arguments, POSITIONAL_MAX } from '../src/arguments.ts';

export function readArguments(params: string, keyword = '{}'): Arguments {
  const bytes = Buffer.from(params + keyword);
  const positional: JsonSpan[] = [];
  const end = Buffer.byteLength(params);
  readElements(bytes, { kind: 'array', start: 0, end }, (element) => {
    positional.push(element);
    return positional.length < POSITIONAL_MAX;
  });
  return { bytes, positional, named: readMembers(bytes, { kind: 'object', start: end, end: bytes.length }) };
}
