/**
 * Cuts the bytes of an export into whole records, and finds the id of the last one. Only whole records are printed, so
 * that an interrupted export can resume after the last one. Pure.
 */
export interface RecordTexts {
  /** Adds bytes of the export. Returns the records that are complete now. */
  push(piece: Uint8Array): { text: string; count: number };
  /** Id of the last record that was returned; null before the first one. */
  readonly lastId: number | null;
  /** True if bytes of an incomplete record are left. */
  readonly isCut: boolean;
}

export function cutNdjson(): RecordTexts {
  return createTexts('\n', findLineEnds, (line) => (JSON.parse(line) as { id: number }).id);
}

/** `wantsHeader`: whether the header row is returned. It is not counted as a record. */
export function cutCsv(wantsHeader: boolean): RecordTexts {
  let isHeader = true;
  const texts = createTexts('\r\n', createRowFinder(), (row) => Number.parseInt(row, 10));
  return {
    push(piece) {
      const given = texts.push(piece);
      if (!isHeader || given.count === 0) return given;
      isHeader = false;
      const end = given.text.indexOf('\r\n') + 2;
      return { text: wantsHeader ? given.text : given.text.slice(end), count: given.count - 1 };
    },
    get lastId() {
      // NaN after the header alone, which begins with a column name.
      return Number.isNaN(texts.lastId) ? null : texts.lastId;
    },
    get isCut() {
      return texts.isCut;
    },
  };
}

/** Returns the offsets at which records end in the next part of the text. */
type FindEnds = (part: string) => number[];

function createTexts(end: string, findEnds: FindEnds, readId: (record: string) => number): RecordTexts {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  let lastId: number | null = null;
  return {
    push(piece) {
      const part = decoder.decode(piece, { stream: true });
      const ends = findEnds(part);
      const last = ends.at(-1);
      if (last === undefined) {
        rest += part;
        return { text: '', count: 0 };
      }
      const text = rest + part.slice(0, last);
      const before = ends.at(-2);
      const record = before === undefined ? text : part.slice(before, last);
      lastId = readId(record.slice(0, -end.length));
      rest = part.slice(last);
      return { text, count: ends.length };
    },
    get lastId() {
      return lastId;
    },
    get isCut() {
      return rest !== '';
    },
  };
}

function findLineEnds(part: string): number[] {
  const ends: number[] = [];
  for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) ends.push(at + 1);
  return ends;
}

/** Finds the ends of rows. In a quoted cell, a line break does not end the row. */
function createRowFinder(): FindEnds {
  let isQuoted = false;
  return (part) => {
    const ends: number[] = [];
    for (const { 0: mark, index } of part.matchAll(/["\n]/g)) {
      if (mark === '"') isQuoted = !isQuoted;
      else if (!isQuoted) ends.push(index + 1);
    }
    return ends;
  };
}
