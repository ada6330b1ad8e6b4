/**
 * Cleans names that callers choose, for records: replaces characters that control a terminal or reverse the direction
 * of text, and cuts long names. Pure.
 */
import { cutText } from '@erp-proxy/contract';

/** Control and format characters (including direction marks), line and paragraph separators, lone surrogates. */
const STRANGE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const LENGTH_MAX = 256;

export function cleanName(name: string): string;
export function cleanName(name: string | null): string | null;
export function cleanName(name: string | null): string | null {
  if (name === null) return null;
  const start = name.length > LENGTH_MAX ? `${cutText(name, LENGTH_MAX - 1)}…` : name;
  return start.replace(STRANGE, '\ufffd');
}
