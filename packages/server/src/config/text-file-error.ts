/**
 * A file that exists but cannot be used as text. The message is shown with the source of the setting, and contains no
 * path.
 */
export class TextFileError extends Error {}
