/**
 * Prints arguments of a call for the person who is asked about it: on one line, bounded, and so that no text in them
 * can look like the end of the question. Pure.
 */
import { isObject } from '../json/is-object.ts';
import { cleanText } from './show.ts';

/** Maximum length of all texts, names and numbers. */
const ARGUMENTS_LENGTH_MAX = 1500;
const TEXT_LENGTH_MAX = 1000;
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
const SIMPLE_NAME = /^[A-Za-z_]\w{0,63}$/;

/**
 * The end of a description: `, with …`, or nothing if no value is defined. Texts are in “quotation marks”, lists in [],
 * objects in {}. What is cut is marked outside of the quotation marks.
 */
export function printWith(...values: unknown[]): string {
  const printer = new Printer();
  const printed = values.filter((value) => value !== undefined).map((value) => printer.print(value, 0));
  return printed.length > 0 ? `, with ${printed.join(' and ')}` : '';
}

/** `max`: the maximum number of characters inside of the quotation marks. */
export function quoteText(text: string, max: number = TEXT_LENGTH_MAX): string {
  const read = text.slice(0, READ_MAX);
  const shown = cleanText(read).replace(BLANKS, ' ').replace(QUOTES, "'");
  if (shown.length <= max && read.length === text.length) return `“${shown.toWellFormed()}”`;
  return `“${shown.slice(0, max).toWellFormed()}…” (cut, ${text.length} characters)`;
}

class Printer {
  #left = ARGUMENTS_LENGTH_MAX;

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
    const max = Math.max(0, Math.min(TEXT_LENGTH_MAX, this.#left));
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
