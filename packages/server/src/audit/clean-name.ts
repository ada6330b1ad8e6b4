/**
 * Names that callers made up, as they may stand in a record: without characters that steer a terminal or turn the
 * direction of a text around, and bounded. Pure.
 */

/** Control and format characters (marks of direction are among them), line and paragraph separators, lone surrogates. */
const STRANGE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const LENGTH_MAX = 256;

export function cleanName(name: string): string;
export function cleanName(name: string | null): string | null;
export function cleanName(name: string | null): string | null {
  if (name === null) return null;
  const start = name.length > LENGTH_MAX ? `${name.slice(0, LENGTH_MAX - 1)}…` : name;
  return start.replace(STRANGE, '\ufffd');
}
