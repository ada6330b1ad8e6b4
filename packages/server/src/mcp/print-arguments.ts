/**
 * Prints arguments of a call for the person who is asked about it: on one line, bounded, and so that no text in them
 * can look like the end of the question. Pure.
 */
import { cutText } from '@erp-proxy/contract';
import { isObject } from '@erp-proxy/json';
import { cleanText } from './show.ts';

/** Maximum length of all texts, names and numbers. */
const ARGUMENTS_LENGTH_MAX = 1500;
const TEXT_LENGTH_MAX = 1000;
/** Texts are cut to these lengths before whole arguments are left out: a long one must not hide those behind it. */
const SHORTER_TEXTS = [200, 40];
/** Members and items that are printed of one object or list. */
const ITEMS_MAX = 20;
const DEPTH_MAX = 6;
/** Longer texts are cut before they are cleaned: each invisible character of a long text costs time. */
const READ_MAX = 16 * 1024;

/** White space, and letters that look like it. */
const BLANKS = /[\s\u115f\u1160\u2800\u3164\uffa0]+/g;
const SINGLE_MARKS = "'‘’‚‛`´′‵ʹʻʼʽˈˊˋ׳＇❛❜";
const DOUBLE_MARKS = '"“”„‟«»〝〞〟❝❞‶″‷‴＂˝ʺˮ״\u2e42\u{1f676}-\u{1f678}';
/** What looks like the end of a quoted text: a double mark with those beside it, or several single ones. */
const QUOTES = new RegExp(
  `[${SINGLE_MARKS}]*[${DOUBLE_MARKS}][${SINGLE_MARKS}${DOUBLE_MARKS}]*|[${SINGLE_MARKS}]{2,}`,
  'gu',
);
/**
 * Some clients render a question as Markdown. These begin a tag, a comment, an escape or a character reference, or end
 * the text of a link: what follows could be hidden.
 */
const MARKUP = /[<\\]|&(?=#?\w)|\](?=[([])/g;
/** From an ASCII character to the same one in full width. */
const TO_FULL_WIDTH = 0xfee0;
/** Letters that are written from right to left. They also turn the order of numbers and marks beside them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Keep the order of what is outside (Unicode Standard Annex 9). */
const ISOLATE = '\u2068';
const END_ISOLATE = '\u2069';
const SIMPLE_NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * The end of a description: `, with …`, or nothing if no value is defined. Texts are in “quotation marks”, lists in [],
 * objects in {}. What is cut is marked outside of the quotation marks.
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

  /** True if there was no room for all of the values. */
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
      // Brackets and commas count too.
      this.#left -= 2;
    }
    if (printed.length < items.length) printed.push(`… (cut, ${items.length} in all)`);
    return printed.join(', ');
  }
}
