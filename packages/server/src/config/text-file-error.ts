/** A file that is not read although it is there. The message is for the source of the setting, and shows no path. */
export class TextFileError extends Error {}
