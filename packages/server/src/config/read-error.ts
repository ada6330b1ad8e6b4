/**
 * Describes why a file could not be read. Does not show the path, nor the error's message, which contains it: a wrong
 * path may be the secret itself, set in the variable that should name its file.
 */
export function explainReadError(error: unknown): string {
  if (error instanceof TextFileError) return error.message;
  const code = readErrorCode(error);
  if (code === 'ENOENT') return 'there is no such file';
  return `the file cannot be read${code === undefined ? '' : ` (${code})`}`;
}

export function readErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * A file that exists but cannot be used as text. The message is shown with the source of the setting, and contains no
 * path.
 */
export class TextFileError extends Error {}
