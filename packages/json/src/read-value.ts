/**
 * Reads the value of a JSON text that an operator or a caller wrote. An object that names a member twice is refused:
 * JSON.parse would silently keep the last one. RFC 8259 (section 4) does not define which one counts.
 */
import { cutText } from '@erp-proxy/contract';
import { readDocument } from './document.ts';
import { skipString } from './skip.ts';
import { decodeName, viewAsBuffer } from './string.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Limits of a path in an error: characters of a name, and number of steps, of which the last ones are shown. */
const NAME_LENGTH_MAX = 200;
const STEPS_MAX = 32;

/** Thrown if an object of the text names a member twice. */
export class DuplicateMemberError extends Error {
  override readonly name = 'DuplicateMemberError';
  /** Path of the second member, such as `policy.models["res.partner"]`. */
  readonly path: string;

  constructor(path: string) {
    super(`The member ${path} appears twice: keep one.`);
    this.path = path;
  }
}

/** Throws a {@link JsonSyntaxError} or a {@link DuplicateMemberError}; neither quotes a value of the text. */
export function readValue(bytes: Uint8Array): unknown {
  readDocument(bytes);
  findDuplicate(bytes);
  return JSON.parse(viewAsBuffer(bytes).toString('utf8'));
}

/** An object or array that encloses the current position. */
interface Level {
  /** The names so far; null for an array. */
  names: Set<string> | null;
  /** Name or index of the current member or element. */
  step: string | number;
}

/** Reads the text in one pass without recursion, because it can be nested as deep as it is long. */
function findDuplicate(bytes: Uint8Array): void {
  const levels: Level[] = [];
  let isName = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    const level = levels.at(-1);
    if (byte === QUOTE) {
      const end = skipString(bytes, at);
      if (isName && level) addName(level, decodeName(bytes, { start: at, end }), levels);
      isName = false;
      at = end;
      continue;
    }
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      isName = byte === OPEN_OBJECT;
      levels.push({ names: isName ? new Set() : null, step: 0 });
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      levels.pop();
      isName = false;
    } else if (byte === COMMA && level) {
      isName = level.names !== null;
      if (typeof level.step === 'number') level.step++;
    }
    at++;
  }
}

function addName(level: Level, name: string, levels: readonly Level[]): void {
  level.step = name;
  if (level.names?.has(name)) throw new DuplicateMemberError(printPath(levels));
  level.names?.add(name);
}

function printPath(levels: readonly Level[]): string {
  const path = levels.slice(-STEPS_MAX).map(({ step }) => {
    if (typeof step === 'number') return `[${step}]`;
    return /^\w+$/.test(step) ? `.${step}` : `[${JSON.stringify(cutText(step, NAME_LENGTH_MAX))}]`;
  });
  return levels.length > STEPS_MAX ? `…${path.join('')}` : path.join('').replace(/^\./, '');
}

/** True if a parsed value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
