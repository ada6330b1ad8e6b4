/**
 * Cuts out of Odoo's texts what must not reach a caller: the credentials of the call, server paths, tracebacks, SQL.
 * Bounded in length and depth. Knows nothing of what the texts mean.
 */

/** Longest text that is passed on, in characters. */
const TEXT_LENGTH_MAX = 32_768;
/** Longest traceback that is passed on where the operator wants it, in characters. */
const DEBUG_LENGTH_MAX = 65_536;
/** Most values, and most characters, in `arguments` or `context` together. */
const VALUES_MAX = 2_000;
const VALUE_LENGTH_MAX = 131_072;
const DEPTH_MAX = 16;

const SECRET_MARK = '***';
const CUT_MARK = '…';

/** Cuts texts and values for one call. */
export interface FaultCleaner {
  /** Without secrets, paths, tracebacks and SQL. */
  cleanText(text: string): string;
  /** The same for every text within a JSON value. */
  cleanValue(value: unknown): unknown;
  /** Without secrets only: for a traceback that the operator asked for. */
  cleanDebug(text: string): string;
}

export function createFaultCleaner(secrets: readonly string[]): FaultCleaner {
  const cutters = createSecretCutters(secrets);
  // Before anything shortens the text, or the first half of a secret could be what stays.
  const cutSecrets = (text: string) => cutters.reduce((rest, cut) => cut(rest), text);
  const cleanText = (text: string) => cutInternals(shortenText(cutSecrets(text), TEXT_LENGTH_MAX));
  return {
    cleanText,
    cleanValue: (value) => copyValue(value, cleanText, { values: VALUES_MAX, length: VALUE_LENGTH_MAX }, 0),
    cleanDebug: (text) => cutSecrets(text).slice(-DEBUG_LENGTH_MAX),
  };
}

/**
 * A secret of this length or more is cut wherever it stands; a shorter one (a password such as `admin` can be an
 * api_key, FACTS 4.4) only where it is a word of its own, or every other word would lose letters.
 */
const SECRET_LENGTH_MIN = 8;

function createSecretCutters(secrets: readonly string[]): ((text: string) => string)[] {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(listWrittenForms));
  return [...forms]
    .sort((a, b) => b.length - a.length)
    .map((form) => {
      if (form.length >= SECRET_LENGTH_MIN) return (text) => text.replaceAll(form, SECRET_MARK);
      const word = new RegExp(`(?<![\\p{L}\\p{N}])${escapePattern(form)}(?![\\p{L}\\p{N}])`, 'gu');
      return (text) => text.replace(word, SECRET_MARK);
    });
}

/** How a secret can stand in a text: as it is, and as JSON, Python, a URL or HTML write it. */
function listWrittenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const python = secret.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n');
  const html = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [
    secret,
    json,
    escapeNonAscii(json),
    python,
    encodeURIComponent(secret.toWellFormed()),
    html,
    html.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    html.replaceAll('"', '&#34;').replaceAll("'", '&#x27;'),
  ];
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function shortenText(text: string, lengthMax: number): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}${CUT_MARK}` : text;
}

const TRACEBACK = /Traceback \(most recent call last\)[\s\S]*$/;
const FRAME = /\bFile "[^"\n]*"(, line \d+)?(, in [^\s]+)?/g;
/** PostgreSQL's lines below a message; two spaces follow the labels of all but the first. */
const SQL_LINES =
  /^[ \t]*(LINE \d+: |(DETAIL|HINT|CONTEXT|QUERY|STATEMENT|WHERE): {2}).*(\n[ \t]*\^[ \t]*$)?/gm;
/** Capitals only, as Odoo writes SQL: `Select a product from the list` is a text. */
const SQL_STATEMENT =
  /(\bSELECT\b[\s\S]{1,4000}?\bFROM\s+["\w(]|\bINSERT\s+INTO\s+["\w]|\bUPDATE\s+(ONLY\s+)?[\w".]+\s+SET\s|\bDELETE\s+FROM\s+["\w]|\bVALUES\s*\(|\b(ALTER|CREATE|DROP)\s+TABLE\s)[\s\S]*$/;
const CONNECTION =
  /(connection to server|could not connect to server|could not translate host name)\b[^\n]*/gi;
/** Whatever could be a path; {@link isServerPath} decides. */
const PATH_LIKE = /[\w.@+~<>:/\\-]{3,}/g;
const SERVER_FOLDER =
  /(^|[^\w])\/(opt|usr|home|var|etc|root|srv|tmp|mnt|lib|bin|proc|run|Users|Library|private|workspace|app)\//;
const SOURCE_FILE = /[/\\][^/\\]*\.py[cox]?(:\d+)?\b/;
const RECORDED_FOLDER = /<(odoo|python|site-packages|enterprise|addons)>[/\\]/;
const WINDOWS_PATH = /(^|[^\w])[A-Za-z]:\\/;

function cutInternals(text: string): string {
  return text
    .replace(TRACEBACK, CUT_MARK)
    .replace(FRAME, CUT_MARK)
    .replace(CONNECTION, 'the connection to the database failed')
    .replace(SQL_LINES, CUT_MARK)
    .replace(SQL_STATEMENT, CUT_MARK)
    .replace(PATH_LIKE, (word) => (isServerPath(word) ? CUT_MARK : word));
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

/** Copies a JSON value with its texts cleaned, as far as the budget goes. */
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

/** Charges what was read, not what is left of it: cleaning is the work. */
function copyText(text: string, cleanText: (text: string) => string, budget: Budget): string {
  const lengthMax = Math.max(0, budget.length);
  budget.length -= Math.min(text.length, TEXT_LENGTH_MAX);
  return shortenText(cleanText(text), lengthMax);
}

/** A key of digits could come back as a number; ids are shorter than any key that is cut within a word. */
function copyNumber(value: number, cleanText: (text: string) => string): unknown {
  const digits = String(value);
  return digits.length >= SECRET_LENGTH_MIN && cleanText(digits) !== digits ? SECRET_MARK : value;
}
