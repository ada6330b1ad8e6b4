/**
 * Parses JSON like Python's json.loads: accepts NaN and Infinity, uses the last of two members with the same name,
 * keeps `1` and `1.0` different, and keeps every digit of integers (docs/odoo-facts.md#id-echo). A string that is a
 * number between two NUL characters stands for the file with this number. Independent of Odoo.
 */
import type { Binary } from './binary.ts';
import { Float, type Json } from './value.ts';

export function readJson(text: string, binaries: readonly Binary[] = []): Json {
  const reader = new Reader(text, binaries);
  const value = reader.readValue();
  reader.skipSpace();
  if (reader.position !== text.length) throw reader.error('Extra data');
  return value;
}

const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
/** The place of a file. JSON text cannot have a NUL character in a string. */
const reference = /"\0(\d+)\0"/y;
const plain = /[^"\\\u0000-\u001f]*/y;
const escapes: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const words: [string, Json][] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', new Float(Number.NaN)],
  ['Infinity', new Float(Number.POSITIVE_INFINITY)],
  ['-Infinity', new Float(Number.NEGATIVE_INFINITY)],
];

class Reader {
  position = 0;
  readonly #text: string;

  readonly #binaries: readonly Binary[];

  constructor(text: string, binaries: readonly Binary[]) {
    this.#text = text;
    this.#binaries = binaries;
  }

  /** Worded like Python, because json2 shows the message to the caller. */
  error(what: string, position = this.position): SyntaxError {
    const before = this.#text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - before.lastIndexOf('\n');
    return new SyntaxError(`${what}: line ${line} column ${column} (char ${position})`);
  }

  skipSpace(): void {
    while (' \t\n\r'.includes(this.#text[this.position] ?? 'x')) this.position++;
  }

  readValue(): Json {
    this.skipSpace();
    const first = this.#text[this.position];
    if (first === '{') return this.#readObject();
    if (first === '[') return this.#readArray();
    if (first === '"') return this.#readBinary() ?? this.#readString();
    for (const [word, value] of words) {
      if (this.#text.startsWith(word, this.position)) {
        this.position += word.length;
        return value;
      }
    }
    return this.#readNumber();
  }

  #readNumber(): Json {
    number.lastIndex = this.position;
    const match = number.exec(this.#text);
    if (!match) throw this.error('Expecting value');
    this.position = number.lastIndex;
    if (match[1] || match[2]) return new Float(Number(match[0]));
    const value = Number(match[0]);
    return Number.isSafeInteger(value) ? value + 0 : BigInt(match[0]);
  }

  #readArray(): Json {
    const items: Json[] = [];
    this.position++;
    if (this.#take(']')) return items;
    do items.push(this.readValue());
    while (this.#take(','));
    this.#expect(']', ',');
    return items;
  }

  #readObject(): Json {
    const members: Record<string, Json> = Object.create(null);
    this.position++;
    if (this.#take('}')) return members;
    do {
      this.skipSpace();
      if (this.#text[this.position] !== '"')
        throw this.error('Expecting property name enclosed in double quotes');
      const name = this.#readString();
      this.#expect(':');
      members[name] = this.readValue();
    } while (this.#take(','));
    this.#expect('}', ',');
    return members;
  }

  #readBinary(): Binary | undefined {
    if (this.#text[this.position + 1] !== '\0') return undefined;
    reference.lastIndex = this.position;
    const match = reference.exec(this.#text);
    const binary = this.#binaries[Number(match?.[1])];
    if (binary) this.position = reference.lastIndex;
    return binary;
  }

  #readString(): string {
    const start = this.position;
    let value = '';
    this.position++;
    for (;;) {
      plain.lastIndex = this.position;
      value += plain.exec(this.#text)?.[0] ?? '';
      this.position = plain.lastIndex;
      const next = this.#text[this.position++];
      if (next === '"') return value;
      if (next === undefined) throw this.error('Unterminated string starting at', start);
      if (next !== '\\') throw this.error('Invalid control character at', this.position - 1);
      value += this.#readEscape();
    }
  }

  #readEscape(): string {
    const letter = this.#text[this.position++] ?? '';
    if ('"\\/'.includes(letter) && letter) return letter;
    if (letter === 'u') {
      const hex = this.#text.slice(this.position, this.position + 4);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw this.error('Invalid \\uXXXX escape');
      this.position += 4;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const escaped = escapes[letter];
    if (escaped === undefined) throw this.error('Invalid \\escape', this.position - 2);
    return escaped;
  }

  #take(mark: string): boolean {
    this.skipSpace();
    if (this.#text[this.position] !== mark) return false;
    this.position++;
    return true;
  }

  #expect(mark: string, missed = mark): void {
    if (!this.#take(mark)) throw this.error(`Expecting '${missed}' delimiter`);
  }
}
