/** Reads a file of settings, or a file with one secret, as text. */
import { isUtf8 } from 'node:buffer';
import { lstatSync, type PathOrFileDescriptor, readFileSync } from 'node:fs';
import { readErrorCode, TextFileError } from './read-error.ts';

/** Throws the error of `readFileSync`, or a {@link TextFileError}. */
export function readTextFile(file: PathOrFileDescriptor): string {
  const bytes = readBytes(file);
  // Refused, because letters of other encodings would be replaced.
  if (!isUtf8(bytes)) throw new TextFileError('the file is not UTF-8; save it in this encoding');
  return bytes.toString();
}

function readBytes(file: PathOrFileDescriptor): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (readErrorCode(error) !== 'ENOENT' || typeof file === 'number') throw error;
    // Without this check, a broken link would count as an absent file, although the operator has put it there.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) throw error;
    throw new TextFileError('the symbolic link leads to no file; correct or remove it');
  }
}
