/** Divides a text that is too long for one answer into parts. Pure. */
import { cutText } from '@erp-proxy/contract';
import { cleanText, stripTags } from './show.ts';

export interface TextPart {
  text: string;
  /** Where the next part begins, in characters of the whole text; null if this was the last part. */
  next: number | null;
}

/** Maximum characters of HTML source for one part: its words have tags and pictures between them. */
const SOURCE_MAX = 64 * 1024;
/** A part ends at a tag that is at most this many characters before its end. */
const NEAR = 500;

/**
 * The part of a text from `offset` on, with at most `lengthMax` characters. For HTML, returns the text without tags. A
 * part ends outside of tags and between characters, if possible.
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
    // Shortens the piece in proportion: tags are about as frequent in the shorter one.
    end = start + Math.max(lengthMax, Math.floor(((end - start) * lengthMax * 0.9) / text.length));
  }
}

/** The largest part of a text from `offset` on whose JSON has at most `bytesMax` bytes. */
export function fitTextPart(text: string, offset: number, bytesMax: number): TextPart {
  for (let lengthMax = bytesMax; ; ) {
    const part = readTextPart(text, offset, lengthMax);
    const bytes = Buffer.byteLength(JSON.stringify(part.text));
    if (bytes <= bytesMax) return part;
    lengthMax = Math.floor((part.text.length * bytesMax) / bytes);
  }
}

/** Finds a place at or before `end` that splits neither a tag, nor an entity, nor a character. */
function findCut(source: string, start: number, end: number, isHtml: boolean): number {
  if (end >= source.length) return source.length;
  let cut = end;
  if (isHtml) {
    // A cut between two paragraphs is better than one within a word.
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
