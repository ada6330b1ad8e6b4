/**
 * Puts the failure to read a file into words. Shows neither the text of the error, which holds the whole path, nor the
 * path: where it is wrong it may be the secret itself, put into the variable that should name its file.
 */
export function explainReadError(error: unknown): string {
  const code = readErrorCode(error);
  if (code === 'ENOENT') return 'there is no such file';
  return `the file cannot be read${code === undefined ? '' : ` (${code})`}`;
}

export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
