/** Reads a file of YAML or of a secret as text. */
import { isUtf8 } from 'node:buffer';
import { CommandError } from './command.ts';

/** Other encodings are refused: their letters would be replaced, so that names, domains and secrets change. */
export function readText(file: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  throw new CommandError(`${file}: the file is not UTF-8; save it in this encoding.`);
}
