/**
 * Prints arguments of a call for the person who is asked about it: on one line, with limited length, and so that none
 * of their text can look like the end of the question. Pure.
 */
import { cutText } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { cleanText } from './show.ts';

/** Maximum length of all printed texts, names and numbers together. */
const ARGUMENTS_LENGTH_MAX = 1500;
const TEXT_LENGTH_MAX = 1000;
/**
 * Lengths to which texts are cut before whole arguments are left out: a long text must not hide the arguments after it.
 */
const SHORTER_TEXTS = [200, 40];
/** Maximum members of an object or items of a list that are printed. */
const ITEMS_MAX = 20;
const DEPTH_MAX = 6;
/** Longer texts are cut before they are cleaned, because each invisible character of a long text takes time. */
const READ_MAX = 16 * 1024;

/** Matches white space, and letters that look like it. */
const BLANKS = /[\s\u115f\u1160\u2800\u3164\uffa0]+/g;
const SINGLE_MARKS = "'‘’‚‛`´′‵ʹʻʼʽˈˊˋ׳＇❛❜";
const DOUBLE_MARKS = '"“”„‟«»〝〞〟❝❞‶″‷‴＂˝ʺˮ״\u2e42\u{1f676}-\u{1f678}';
/** Text that looks like the end of a quotation: a double mark with adjacent marks, or several single ones. */
const QUOTES = new RegExp(
  `[${SINGLE_MARKS}]*[${DOUBLE_MARKS}][${SINGLE_MARKS}${DOUBLE_MARKS}]*|[${SINGLE_MARKS}]{2,}`,
  'gu',
);
/**
 * Some clients render a question as Markdown. These characters begin a tag, a comment, an escape or a character
 * reference, or end the text of a link: what follows could be hidden.
 */
const MARKUP = /[<\\]|&(?=#?\w)|\](?=[([])/g;
/** The distance from an ASCII character to its full-width form. */
const TO_FULL_WIDTH = 0xfee0;
/** Letters that are written from right to left. They also reverse the order of adjacent numbers and marks. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Keeps the text's direction from reordering the text around it (Unicode Standard Annex 9). */
const ISOLATE = '\u2068';
const END_ISOLATE = '\u2069';
const SIMPLE_NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * Prints the end of a description: `, with …`, or nothing if no value is defined. Texts are in “quotation marks”, lists
 * in [], objects in {}. A cut is marked outside of the quotation marks.
 */
export function printWith(...values: unknown[]): string {
  const defined = values.filter((value) => value !== undefined);
  if (defined.length === 0) return '';
  let printed = '';
  for (const textMax of [TEXT_LENGTH_MAX, ...SHORTER_TEXTS]) {
    const printer = new Printer(textMax);
    printed = defined.map((value) => printer.print(value, 0)).join(' and ');
    if (!printer.isFull) break;
  }
  return `, with ${printed}`;
}

/** `max`: the maximum number of characters inside of the quotation marks. */
export function quoteText(text: string, max: number = TEXT_LENGTH_MAX): string {
  const read = cutText(text, READ_MAX);
  const shown = cleanText(read).replace(BLANKS, ' ').replace(QUOTES, "'").replace(MARKUP, toFullWidth);
  if (shown.length <= max && read.length === text.length) return `“${isolate(shown)}”`;
  return `“${isolate(cutText(shown, max))}…” (cut, ${text.length} characters)`;
}

function toFullWidth(character: string): string {
  return String.fromCharCode(character.charCodeAt(0) + TO_FULL_WIDTH);
}

function isolate(text: string): string {
  const shown = text.toWellFormed();
  return RIGHT_TO_LEFT.test(shown) ? `${ISOLATE}${shown}${END_ISOLATE}` : shown;
}

class Printer {
  readonly #textMax: number;
  #left = ARGUMENTS_LENGTH_MAX;

  constructor(textMax: number) {
    this.#textMax = textMax;
  }

  /** True if the printed values have used up the length. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  print(value: unknown, depth: number): string {
    if (typeof value === 'string') return this.#printText(value);
    if (typeof value !== 'object' || value === null) {
      const text = String(value);
      this.#left -= text.length;
      return text;
    }
    if (depth >= DEPTH_MAX) return '… (cut)';
    if (Array.isArray(value)) return `[${this.#printItems(value, (item) => this.print(item, depth + 1))}]`;
    const members = isObject(value) ? Object.entries(value) : [];
    return `{${this.#printItems(members, ([name, item]) => `${this.#printName(name)}: ${this.print(item, depth + 1)}`)}}`;
  }

  #printName(name: string): string {
    if (!SIMPLE_NAME.test(name)) return this.#printText(name);
    this.#left -= name.length;
    return name;
  }

  #printText(text: string): string {
    const max = Math.max(0, Math.min(this.#textMax, this.#left));
    this.#left -= Math.min(text.length, max);
    return quoteText(text, max);
  }

  #printItems<Item>(items: readonly Item[], print: (item: Item) => string): string {
    const printed: string[] = [];
    for (const item of items.slice(0, ITEMS_MAX)) {
      if (this.#left <= 0) break;
      printed.push(print(item));
      // Counts brackets and commas, too.
      this.#left -= 2;
    }
    if (printed.length < items.length) printed.push(`… (cut, ${items.length} in all)`);
    return printed.join(', ');
  }
}
