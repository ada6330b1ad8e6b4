/** Prints JSON in parts: texts, and the files between them, so that a file needs no memory while it is sent. */
import type { Binary } from './binary.ts';
import { printJson } from './print-json.ts';
import type { Json } from './value.ts';

/** Text, or a list of texts and files. A file stands for its base64. */
export type Parts = string | readonly (string | Binary)[];

/** `change` is applied to the texts. It must keep the NUL characters, which mark the places of files. */
export function printParts(value: Json, change: (text: string) => string = (text) => text): Parts {
  const binaries: Binary[] = [];
  const text = change(printJson(value, binaries));
  if (binaries.length === 0) return text;
  return text.split('\0').flatMap((part, index) => (index % 2 === 0 ? part : (binaries[Number(part)] ?? [])));
}
