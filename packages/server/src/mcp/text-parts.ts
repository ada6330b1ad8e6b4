/** Parts of a text that is too long for one answer. Pure. */
import { cutText } from '@erp-proxy/contract';
import { cleanText, stripTags } from './show.ts';

export interface TextPart {
  text: string;
  /** The beginning of the next part, in characters of the whole text; null: this was the last one. */
  next: number | null;
}

/** Characters of the source of a part: HTML has tags and pictures between its words. */
const SOURCE_MAX = 64 * 1024;
/** A tag so near is a better end. */
const NEAR = 500;

/**
 * The part of a text from `offset` on, with at most `lengthMax` characters. A part of HTML is its text. It ends outside
 * of tags and between characters, as far as the text has such places.
 */
export function readTextPart(source: string, offset: number, lengthMax: number, isHtml = false): TextPart {
  const start = cutText(source, offset).length;
  let end = Math.min(source.length, start + (isHtml ? SOURCE_MAX : lengthMax));
  for (;;) {
    end = findCut(source, start, end, isHtml);
    const piece = source.slice(start, end);
    const text = cleanText(isHtml ? stripTags(piece) : piece);
    if (text.length <= lengthMax || end - start <= lengthMax)
      return { text, next: end < source.length ? end : null };
    // The share of tags is about the same in a shorter piece.
    end = start + Math.max(lengthMax, Math.floor(((end - start) * lengthMax * 0.9) / text.length));
  }
}

/** A place at or before `end` that splits neither a tag, nor an entity, nor a character. */
function findCut(source: string, start: number, end: number, isHtml: boolean): number {
  if (end >= source.length) return source.length;
  let cut = end;
  if (isHtml) {
    // Rather between two paragraphs than inside of a word.
    const near = source.lastIndexOf('<', cut);
    if (near > start && near > cut - NEAR) return near;
    const opened = source.lastIndexOf('<', cut - 1);
    if (opened > start && source.indexOf('>', opened) >= cut) cut = opened;
    const entity = source.lastIndexOf('&', cut - 1);
    if (entity > start && cut - entity < 8 && source.slice(entity, cut).indexOf(';') === -1) cut = entity;
  }
  const whole = cutText(source, cut).length;
  return whole > start ? whole : cut;
}
