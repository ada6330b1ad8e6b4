/** Reads arguments from the text of `params` and `keyword`. */
import { readElements } from '../json/elements.ts';
import { readMembers } from '../json/members.ts';
import type { JsonSpan } from '../json/span.ts';
import { type Arguments, POSITIONAL_MAX } from './arguments.ts';

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
