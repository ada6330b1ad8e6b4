/**
 * Removes from Odoo's messages what must not reach a caller: the credentials of the call, server paths, tracebacks and
 * SQL. Bounded in length and depth. Does not interpret the messages.
 */
import { cutText } from '@erp-proxy/contract';

/** Maximum length of a message that is passed on, in characters. */
const TEXT_LENGTH_MAX = 32_768;
/** Maximum length of a traceback, which is passed on if the operator enabled it, in characters. */
const DEBUG_LENGTH_MAX = 65_536;
/** Maximum number of values, and of characters, in `arguments` and `context` together. */
const VALUES_MAX = 2_000;
const VALUE_LENGTH_MAX = 131_072;
const DEPTH_MAX = 16;

const SECRET_MARK = '***';
const CUT_MARK = '…';

/** Cleans the messages and values of one call. */
export interface FaultCleaner {
  /** Removes secrets, paths, tracebacks and SQL. */
  cleanText(text: string): string;
  /** Applies `text` to every string of a JSON value. */
  cleanValue(value: unknown): unknown;
  /** Removes secrets only, for a traceback that the operator asked for. */
  cleanDebug(text: string): string;
}

export function createFaultCleaner(secrets: readonly string[]): FaultCleaner {
  const forms = listForms(secrets);
  const cutters = forms.map(createSecretCutter);
  const longest = forms[0]?.length ?? 0;
  const cutSecrets = (text: string) => cutters.reduce((rest, cut) => cut(rest), text);
  const cleanText = (text: string) => cutInternals(shortenText(cutStart(text), TEXT_LENGTH_MAX));
  return {
    cleanText,
    cleanValue: (value) => copyValue(value, cleanText, { values: VALUES_MAX, length: VALUE_LENGTH_MAX }, 0),
    cleanDebug: (text) => cutEnd(text).slice(-DEBUG_LENGTH_MAX),
  };

  /**
   * The beginning of a text, with secrets removed. If the text is shortened, its end is cut further so that no part of
   * a secret remains.
   */
  function cutStart(text: string): string {
    const lengthMax = TEXT_LENGTH_MAX + 2 * longest;
    if (text.length <= lengthMax) return cutSecrets(text);
    const start = cutSecrets(text.slice(0, lengthMax));
    return `${cutText(start, start.length - longest)}${CUT_MARK}`;
  }

  function cutEnd(text: string): string {
    const lengthMax = DEBUG_LENGTH_MAX + 2 * longest;
    if (text.length <= lengthMax) return cutSecrets(text);
    return cutSecrets(text.slice(-lengthMax)).slice(longest);
  }
}

/**
 * A secret of at least this length is removed wherever it occurs. A shorter one (a password such as `admin` can be an
 * api_key, docs/odoo-facts.md#password-for-key) is removed only as a whole word, because other words could contain it.
 */
const SECRET_LENGTH_MIN = 8;

function createSecretCutter(form: string): (text: string) => string {
  if (form.length >= SECRET_LENGTH_MIN) return (text) => text.replaceAll(form, SECRET_MARK);
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${escapePattern(form)}(?![\\p{L}\\p{N}])`, 'gu');
  return (text) => text.replace(word, SECRET_MARK);
}

/** The longest first, so that a secret that contains another is removed whole. */
function listForms(secrets: readonly string[]): string[] {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(listWrittenForms));
  return [...forms].sort((a, b) => b.length - a.length);
}

/** The encodings in which a secret can occur in a text: plain, JSON, Python, URL, HTML, and JSON inside HTML. */
function listWrittenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const python = secret.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
  const texts = [secret, json, escapeNonAscii(json), python];
  return [...texts, ...listUrlForms(secret.toWellFormed()), ...texts.flatMap(listHtmlForms)];
}

/**
 * Python's `quote` escapes `!'()*` and keeps `/`, `quote_plus` writes a space as `+`, and some encoders use lower-case
 * hex digits.
 */
function listUrlForms(secret: string): string[] {
  const script = encodeURIComponent(secret);
  const plus = script
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
  const path = plus.replaceAll('+', '%20').replaceAll('%2F', '/');
  return [script, plus, path].flatMap((form) => [
    form,
    form.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
  ]);
}

/** HTML encoders write quotes in several ways, or leave them as they are. */
function listHtmlForms(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return ['"', '&quot;', '&#34;'].flatMap((quote) =>
    ["'", '&#39;', '&#x27;'].map((apostrophe) => html.replaceAll('"', quote).replaceAll("'", apostrophe)),
  );
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function shortenText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${cutText(text, lengthMax)}${CUT_MARK}` : text;
}

const TRACEBACK = /Traceback \(most recent call last\)[\s\S]*$/;
const FRAME = /\bFile "[^"\n]*"(, line \d+)?(, in [^\s]+)?/g;
/** The lines that PostgreSQL adds below a message. Two spaces follow each label but the first. */
const SQL_LINES =
  /^[ \t]*(LINE \d+: |(DETAIL|HINT|CONTEXT|QUERY|STATEMENT|WHERE): {2}).*(\n[ \t]*\^[ \t]*$)?/gm;
/** Upper case only, as Odoo writes SQL: `Select a product from the list` is a normal message. */
const SQL_STATEMENT =
  /\bINSERT\s+INTO\s+["\w]|\bUPDATE\s+(ONLY\s+)?[\w".]+\s+SET\s|\bDELETE\s+FROM\s+["\w]|\bVALUES\s*\(|\b(ALTER|CREATE|DROP)\s+TABLE\s/;
const SQL_SELECT = /\bSELECT\b/g;
const SQL_FROM = /\bFROM\s+["\w(]/g;
/** Maximum number of characters between the two keywords. */
const SELECTED_LENGTH_MAX = 4_000;
const CONNECTION =
  /(connection to server|could not connect to server|could not translate host name)\b[^\n]*/gi;
/** Candidates for a path; {@link isServerPath} decides. */
const PATH_LIKE = /[\w.@+~<>:/\\-]{3,}/g;
const SERVER_FOLDER =
  /(^|[^\w])\/(opt|usr|home|var|etc|root|srv|tmp|mnt|lib|bin|proc|run|Users|Library|private|workspace|app)\//;
const SOURCE_FILE = /[/\\][^/\\]*\.py[cox]?(:\d+)?\b/;
const RECORDED_FOLDER = /<(odoo|python|site-packages|enterprise|addons)>[/\\]/;
const WINDOWS_PATH = /(^|[^\w])[A-Za-z]:\\/;

function cutInternals(text: string): string {
  const withoutLines = text
    .replace(TRACEBACK, CUT_MARK)
    .replace(FRAME, CUT_MARK)
    .replace(CONNECTION, 'the connection to the database failed')
    .replace(SQL_LINES, CUT_MARK);
  return cutStatement(withoutLines).replace(PATH_LIKE, (word) => (isServerPath(word) ? CUT_MARK : word));
}

/** Removes the text from the first SQL statement on. */
function cutStatement(text: string): string {
  const starts = [text.search(SQL_STATEMENT), findSelect(text)].filter((at) => at !== -1);
  return starts.length === 0 ? text : `${text.slice(0, Math.min(...starts))}${CUT_MARK}`;
}

/** A single pass. One pattern for both keywords would search for the second from each occurrence of the first. */
function findSelect(text: string): number {
  const froms = Array.from(text.matchAll(SQL_FROM), ({ index }) => index);
  let next = 0;
  for (const { index, 0: word } of text.matchAll(SQL_SELECT)) {
    const end = index + word.length;
    while (next < froms.length && froms[next]! <= end) next++;
    if (next === froms.length) return -1;
    if (froms[next]! - end <= SELECTED_LENGTH_MAX) return index;
  }
  return -1;
}

function isServerPath(word: string): boolean {
  if (/^<?https?:\/\//.test(word)) return false;
  return (
    SERVER_FOLDER.test(word) ||
    SOURCE_FILE.test(word) ||
    RECORDED_FOLDER.test(word) ||
    WINDOWS_PATH.test(word)
  );
}

interface Budget {
  values: number;
  length: number;
}

/** Copies a JSON value with its strings cleaned, within the budget. */
function copyValue(
  value: unknown,
  cleanText: (text: string) => string,
  budget: Budget,
  depth: number,
): unknown {
  if (budget.values-- <= 0 || budget.length <= 0 || depth > DEPTH_MAX) return CUT_MARK;
  if (typeof value === 'string') {
    return copyText(value, cleanText, budget);
  }
  if (typeof value === 'number') return copyNumber(value, cleanText);
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' ? value : null;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      if (budget.values <= 0) break;
      items.push(copyValue(item, cleanText, budget, depth + 1));
    }
    return items;
  }
  const entries: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (budget.values <= 0) break;
    const cleanName = copyText(name, cleanText, budget);
    entries.push([cleanName, copyValue(member, cleanText, budget, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

/** Charges the length before cleaning, because cleaning is the work that must be bounded. */
function copyText(text: string, cleanText: (text: string) => string, budget: Budget): string {
  const lengthMax = Math.max(0, budget.length);
  budget.length -= Math.min(text.length, TEXT_LENGTH_MAX);
  return shortenText(cleanText(text), lengthMax);
}

/**
 * A key that consists of digits could be printed as a number. Ids are shorter than any key that is removed inside
 * words.
 */
function copyNumber(value: number, cleanText: (text: string) => string): unknown {
  const digits = String(value);
  return digits.length >= SECRET_LENGTH_MIN && cleanText(digits) !== digits ? SECRET_MARK : value;
}
