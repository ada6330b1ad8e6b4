/**
 * Generates and parses the text of a client key, `ep_<id>_<secret><check>`, and of a personal token of an operator,
 * which begins with `ept_`. The checksum only saves lookups in the store for mistyped keys: a well-formed key need not
 * be valid.
 */
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
/** 33 × log2(62) = 196 bits: cannot be guessed at any rate of attempts. */
const SECRET_LENGTH = 33;
/** 62^6 > 2^32: a whole CRC-32 fits. */
const CHECK_LENGTH = 6;

const KEY_PREFIX = 'ep_';
export const TOKEN_PREFIX = 'ept_';
type Prefix = typeof KEY_PREFIX | typeof TOKEN_PREFIX;

/** Places after the prefix. */
const SECRET_START = ID_LENGTH + '_'.length;
const CHECK_START = SECRET_START + SECRET_LENGTH;
const LENGTH = CHECK_START + CHECK_LENGTH;
const PATTERN = new RegExp(`^[0-9A-Za-z]{${ID_LENGTH}}_[0-9A-Za-z]{${SECRET_LENGTH + CHECK_LENGTH}}$`);

export interface KeyParts {
  id: string;
  secret: string;
}

/** The id in a text of the length of a key; null for another length. Checks nothing else, and is therefore cheap. */
export function readKeyId(text: string): string | null {
  const isLong = text.length === KEY_PREFIX.length + LENGTH;
  return isLong ? text.slice(KEY_PREFIX.length, KEY_PREFIX.length + ID_LENGTH) : null;
}

/** Null if the text is not a key. The length is checked first, which limits the work. */
export function parseKey(text: string, prefix: Prefix = KEY_PREFIX): KeyParts | null {
  if (text.length !== prefix.length + LENGTH || !text.startsWith(prefix)) return null;
  const rest = text.slice(prefix.length);
  if (!PATTERN.test(rest)) return null;
  if (rest.slice(CHECK_START) !== computeCheck(prefix + rest.slice(0, CHECK_START))) return null;
  return { id: rest.slice(0, ID_LENGTH), secret: rest.slice(SECRET_START, CHECK_START) };
}

export function generateKey(prefix: Prefix = KEY_PREFIX): KeyParts & { text: string } {
  const id = generateText(ID_LENGTH);
  const secret = generateText(SECRET_LENGTH);
  const body = `${prefix}${id}_${secret}`;
  return { id, secret, text: body + computeCheck(body) };
}

function computeCheck(body: string): string {
  let rest = crc32(body);
  let check = '';
  for (let index = 0; index < CHECK_LENGTH; index++) {
    check = ALPHABET.charAt(rest % ALPHABET.length) + check;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return check;
}

/**
 * Random characters. Bytes of 248 and above are discarded: 256 is not a multiple of 62, so without this, eight
 * characters would be more frequent.
 */
function generateText(length: number): string {
  const byteLimit = 256 - (256 % ALPHABET.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < byteLimit && text.length < length) text += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return text;
}

const LENGTH_MAX = 200;
/** Control and format characters, lone surrogates and line ends: they make one name look like another. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export const KEY_NAME_RULE = `1 to ${LENGTH_MAX} printable characters on one line`;

/** The rule for names of client keys. */
export function isKeyName(text: string): boolean {
  return text.trim() !== '' && text.length <= LENGTH_MAX && !UNPRINTABLE.test(text);
}
