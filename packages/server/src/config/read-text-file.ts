/** Reads a file of settings, or of one secret, as text. */
import { isUtf8 } from 'node:buffer';
import { type PathOrFileDescriptor, readFileSync } from 'node:fs';

/** Letters of other encodings would be replaced. The text of the error is for the source of the setting. */
export class NotUtf8Error extends Error {
  override message = 'the file is not UTF-8; save it in this encoding';
}

/** Throws as `readFileSync` does, or a {@link NotUtf8Error}. */
export function readTextFile(file: PathOrFileDescriptor): string {
  const bytes = readFileSync(file);
  if (!isUtf8(bytes)) throw new NotUtf8Error();
  return bytes.toString();
}
