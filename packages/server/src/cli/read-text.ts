/** Reads a YAML file, or a file with a secret, as text. */
import { isUtf8 } from 'node:buffer';
import { CommandError } from './command.ts';

/** Refuses other encodings than UTF-8: their letters would be replaced, which changes names, domains and secrets. */
export function readText(file: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new CommandError(`${file}: the file is not UTF-8; save it in this encoding.`);
}
