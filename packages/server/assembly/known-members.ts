/**
 * Converts the members of records whose names come in a known order (docs/values.md#reading), in AssemblyScript: most
 * bytes of a result pass here, 16 at a time. Stops before the first member that needs more care, and leaves it to
 * `src/odoo/values/result-converter.ts`. `npm run assembly` compiles this file
 * (docs/decisions/0036-values-in-webassembly.md).
 *
 * The input can be read, and the output written, 64 bytes beyond its end. What a load finds there never counts: a value
 * is taken only if it ends within the input.
 */

// An entry of the plan describes one member. `src/odoo/values/member-plan.ts` writes it. It begins with four vectors
// of 16 bytes of the text before the value, each followed by a mask of the bytes that are part of the text.
const SECOND_TEXT: usize = 32;
const THIRD_TEXT: usize = 64;
const FOURTH_TEXT: usize = 96;
const TEXT_BYTES: usize = 128;
const TREATMENT: usize = 132;
/** Distance to the entry of the next member. */
const NEXT: usize = 136;

// What is done with a value, as in `src/odoo/values/member-plan.ts`.
const KEEP: u32 = 0;
const MANY2ONE: u32 = 2;
const REFERENCE: u32 = 3;
const DATETIME: u32 = 4;
const RECORDS: u32 = 5;

/** A longer many2one is not converted; `KEPT_BYTES_MAX` of `src/odoo/values/value-converter.ts`. */
const MANY2ONE_BYTES_MAX: usize = 8 * 1024;
const ID_DIGITS_MAX: usize = 15;
const VECTOR_BYTES: usize = 16;
const DATETIME_BYTES: usize = 21;

const QUOTE: u8 = 0x22;
const COMMA: u8 = 0x2c;
const MINUS: u8 = 0x2d;
const ZERO: u8 = 0x30;
const OPEN_ARRAY: u8 = 0x5b;
const CLOSE_ARRAY: u8 = 0x5d;
const LOWER_F: u8 = 0x66;
const OPEN_OBJECT: u8 = 0x7b;
const CLOSE_OBJECT: u8 = 0x7d;

/** The address after the last byte that was written. */
export let written: usize = 0;
/** The entry of the member at which the conversion has stopped. */
export let stoppedAt: usize = 0;

/**
 * Converts members from `start` on. `entry` is that of the first one, and `lastEntry` is not used any more. Returns the
 * address of the first byte that is not converted, which is the beginning of the text before a value.
 */
export function convertMembers(
  start: usize,
  end: usize,
  output: usize,
  entry: usize,
  lastEntry: usize,
): usize {
  let from = start;
  let to = output;
  let next = entry;
  while (from < end && next !== lastEntry) {
    const textBytes = <usize>load<u32>(next, TEXT_BYTES);
    if (!isTextAt(from, next, textBytes)) break;
    copyText(to, next, textBytes);
    // The address after the value, in the input and in the output.
    let valueEnd = from + textBytes;
    let target = to + textBytes;
    const treatment = load<u32>(next, TREATMENT);
    const first = load<u8>(valueEnd);
    if (first === QUOTE) {
      if (treatment === DATETIME) {
        if (!convertDatetime(valueEnd, target)) break;
        valueEnd += DATETIME_BYTES;
        target += DATETIME_BYTES + 1;
      } else {
        if (treatment === REFERENCE) break;
        const bytes = copyString(valueEnd, end, target);
        if (bytes === 0) break;
        valueEnd += bytes;
        target += bytes;
      }
    } else if (first === LOWER_F && treatment !== KEEP) {
      // `false` becomes `null`.
      if (load<u32>(valueEnd) !== 0x736c6166 || load<u8>(valueEnd, 4) !== 0x65) break;
      store<u32>(target, 0x6c6c756e);
      valueEnd += 5;
      target += 4;
    } else if (first === OPEN_ARRAY) {
      if (treatment === MANY2ONE) {
        const valueStart = valueEnd;
        // `[10, "Deco Addict"]` becomes `{"id": 10, "name": "Deco Addict"}`.
        const digits = ++valueEnd;
        if (load<u8>(valueEnd) === MINUS) valueEnd++;
        const firstDigit = valueEnd;
        while (valueEnd < end && <u8>(load<u8>(valueEnd) - ZERO) < 10) valueEnd++;
        const count = valueEnd - firstDigit;
        if (count === 0 || count > ID_DIGITS_MAX || (count > 1 && load<u8>(firstDigit) === ZERO)) break;
        store<u32>(target, 0x6469227b); // {"id
        store<u32>(target, 0x00203a22, 4); // ": and a space
        v128.store(target, v128.load(digits), 7);
        target += 7 + (valueEnd - digits);
        if (load<u8>(valueEnd++) !== COMMA) break;
        if (load<u8>(valueEnd) === 0x20) valueEnd++;
        if (load<u8>(valueEnd) !== QUOTE) break;
        store<u32>(target, 0x6e22202c); // , "n
        store<u32>(target, 0x22656d61, 4); // ame"
        store<u16>(target, 0x203a, 8); // : and a space
        target += 10;
        const bytes = copyString(valueEnd, end, target);
        if (bytes === 0) break;
        valueEnd += bytes;
        target += bytes;
        if (load<u8>(valueEnd) !== CLOSE_ARRAY || valueEnd - valueStart >= MANY2ONE_BYTES_MAX) break;
        store<u8>(target++, CLOSE_OBJECT);
        valueEnd++;
      } else {
        if (treatment === RECORDS) break;
        const bytes = copyFlatArray(valueEnd, end, target);
        if (bytes === 0) break;
        valueEnd += bytes;
        target += bytes;
      }
    } else {
      // A number, `true` or `null`.
      const bytes = copyScalar(valueEnd, target);
      valueEnd += bytes;
      target += bytes;
      // It may go on after the input.
      if (bytes === 0 || valueEnd === end) break;
    }
    if (valueEnd > end) break;
    from = valueEnd;
    to = target;
    next += <usize>load<i32>(next, NEXT);
  }
  written = to;
  stoppedAt = next;
  return from;
}

/** The bits of a text outside its mask are 0; in an entry that no text matches, they are not. */
function isTextAt(at: usize, entry: usize, bytes: usize): bool {
  const differences = v128.or(compareText(at, entry), compareText(at + VECTOR_BYTES, entry + SECOND_TEXT));
  if (v128.any_true(differences)) return false;
  if (bytes <= 2 * VECTOR_BYTES) return true;
  return !v128.any_true(
    v128.or(
      compareText(at + 2 * VECTOR_BYTES, entry + THIRD_TEXT),
      compareText(at + 3 * VECTOR_BYTES, entry + FOURTH_TEXT),
    ),
  );
}

function compareText(at: usize, text: usize): v128 {
  return v128.xor(v128.and(v128.load(at), v128.load(text, VECTOR_BYTES)), v128.load(text));
}

function copyText(to: usize, entry: usize, bytes: usize): void {
  v128.store(to, v128.load(entry));
  v128.store(to, v128.load(entry, SECOND_TEXT), VECTOR_BYTES);
  if (bytes <= 2 * VECTOR_BYTES) return;
  v128.store(to, v128.load(entry, THIRD_TEXT), 2 * VECTOR_BYTES);
  v128.store(to, v128.load(entry, FOURTH_TEXT), 3 * VECTOR_BYTES);
}

/** `"2026-10-21 01:31:00"` becomes `"2026-10-21T01:31:00Z"`. False: it has another form. */
function convertDatetime(at: usize, to: usize): bool {
  const head = v128.load(at);
  // Two vectors that overlap cover the 21 bytes. The smallest and the largest byte at each position is given by
  // `"0000-00-00 00:00:00"` and, for a digit, 9 more.
  const tail = v128.load(at, DATETIME_BYTES - VECTOR_BYTES);
  const differences = v128.or(
    i8x16.gt_u(
      i8x16.sub(head, i8x16(0x22, 48, 48, 48, 48, 0x2d, 48, 48, 0x2d, 48, 48, 0x20, 48, 48, 0x3a, 48)),
      i8x16(0, 9, 9, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9),
    ),
    i8x16.gt_u(
      i8x16.sub(tail, i8x16(0x2d, 48, 48, 0x2d, 48, 48, 0x20, 48, 48, 0x3a, 48, 48, 0x3a, 48, 48, 0x22)),
      i8x16(0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0, 9, 9, 0),
    ),
  );
  if (v128.any_true(differences)) return false;
  // The space becomes a T.
  v128.store(to, v128.xor(head, i8x16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x74, 0, 0, 0, 0)));
  store<u32>(to, load<u32>(at, VECTOR_BYTES), VECTOR_BYTES);
  store<u16>(to, 0x225a, DATETIME_BYTES - 1); // Z"
  return true;
}

/** Copies a string. Returns its length, or 0 if its end is not within the input. */
function copyString(at: usize, end: usize, to: usize): usize {
  store<u8>(to, QUOTE);
  let from = at + 1;
  while (from < end) {
    const vector = v128.load(from);
    v128.store(to + (from - at), vector);
    const marks = i8x16.bitmask(
      v128.or(i8x16.eq(vector, i8x16.splat(0x22)), i8x16.eq(vector, i8x16.splat(0x5c))),
    );
    if (marks === 0) {
      from += VECTOR_BYTES;
      continue;
    }
    from += ctz(marks);
    if (load<u8>(from) === QUOTE) return from + 1 - at;
    // A backslash, and the byte that it escapes.
    store<u16>(to + (from - at), load<u16>(from));
    from += 2;
  }
  return 0;
}

/** Copies an array without strings, arrays and objects. Returns its length, or 0 for another one. */
function copyFlatArray(at: usize, end: usize, to: usize): usize {
  store<u8>(to, OPEN_ARRAY);
  let from = at + 1;
  while (from < end) {
    const vector = v128.load(from);
    v128.store(to + (from - at), vector);
    const marks = i8x16.bitmask(v128.or(i8x16.eq(vector, i8x16.splat(0x22)), findBrackets(vector)));
    if (marks === 0) {
      from += VECTOR_BYTES;
      continue;
    }
    from += ctz(marks);
    return load<u8>(from) === CLOSE_ARRAY ? from + 1 - at : 0;
  }
  return 0;
}

/** Copies a number or a word that a comma or a brace follows. Returns its length, or 0 for other bytes. */
function copyScalar(at: usize, to: usize): usize {
  const vector = v128.load(at);
  v128.store(to, vector);
  const ends = v128.or(
    v128.or(i8x16.le_u(vector, i8x16.splat(0x22)), i8x16.eq(vector, i8x16.splat(0x2c))),
    findBrackets(vector),
  );
  const marks = i8x16.bitmask(ends);
  if (marks === 0) return 0;
  const bytes = <usize>ctz(marks);
  const after = load<u8>(at + bytes);
  return after === COMMA || after === CLOSE_OBJECT ? bytes : 0;
}

/** Marks `[`, `]`, `{` and `}`. */
function findBrackets(vector: v128): v128 {
  const lowered = v128.or(vector, i8x16.splat(0x20));
  return v128.or(i8x16.eq(lowered, i8x16.splat(OPEN_OBJECT)), i8x16.eq(lowered, i8x16.splat(CLOSE_OBJECT)));
}
