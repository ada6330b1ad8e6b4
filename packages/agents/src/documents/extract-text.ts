/**
 * The text of a document: a PDF, or a file of an office program. Runs in a thread with bounds of time and memory,
 * because files can be hostile.
 */
import { strFromU8, type Unzipped, unzipSync } from 'fflate';
import { getDocumentProxy } from 'unpdf';

/** Maximum length of the text that is read, in characters. */
const TEXT_MAX = 512 * 1024;
const PAGES_MAX = 300;
/** Maximum unpacked size of all parts of an office file that have text. */
const PARTS_BYTES_MAX = 16 * 1024 * 1024;
/** Matches the parts that have text in files of Word, PowerPoint, Excel and OpenDocument. */
const PARTS =
  /^(word\/document|ppt\/slides\/slide\d+|xl\/sharedStrings|xl\/worksheets\/sheet\d+|content)\.xml$/;

/**
 * Null if the file is no such document, or has no text. Throws if the file is damaged, or is an office file and too
 * large.
 */
export async function extractText(bytes: Uint8Array): Promise<string | null> {
  const beginning = Buffer.from(bytes.subarray(0, 8)).toString('latin1');
  const isPdf = beginning.startsWith('%PDF-');
  const text = isPdf ? await readPdf(bytes) : beginning.startsWith('PK\x03\x04') ? readOffice(bytes) : '';
  const trimmed = text.slice(0, TEXT_MAX).trim();
  return trimmed === '' ? null : trimmed;
}

async function readPdf(bytes: Uint8Array): Promise<string> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  let text = '';
  for (let number = 1; number <= Math.min(pdf.numPages, PAGES_MAX) && text.length < TEXT_MAX; number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str;
    text += '\n\n';
  }
  return text;
}

function readOffice(bytes: Uint8Array): string {
  let total = 0;
  const parts = unzipSync(bytes, {
    filter({ name, size, originalSize }) {
      if (!PARTS.test(name)) return false;
      // The larger size counts: parts can share their bytes, and an uncompressed part takes `size`, whatever
      // `originalSize` says.
      total += Math.max(size, originalSize);
      // Leaving a part out would change the text.
      if (total > PARTS_BYTES_MAX) throw new RangeError('The parts of the file are too large together.');
      return true;
    },
  });
  const names = Object.keys(parts).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const strings = readStrings(parts);
  const texts = names.flatMap((name) => {
    if (name === 'xl/sharedStrings.xml') return [];
    const xml = strFromU8(parts[name] as Uint8Array);
    return [name.startsWith('xl/') ? readSheet(xml, strings) : readXml(xml)];
  });
  return texts.join('\n\n');
}

/** The texts of cells, which Excel stores in a part of their own. */
function readStrings(parts: Unzipped): string[] {
  const part = parts['xl/sharedStrings.xml'];
  if (part === undefined) return [];
  return [...strFromU8(part).matchAll(/<si\b[^>]*>(.*?)<\/si>/gs)].map(([, item = '']) => readXml(item));
}

/** Prints one line for each row, with tabs between the cells. */
function readSheet(xml: string, strings: readonly string[]): string {
  const rows = [...xml.matchAll(/<row\b[^>]*>(.*?)<\/row>/gs)].map(([, row = '']) => {
    const cells = [...row.matchAll(/<c\b([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)];
    return cells
      .map(([, attributes = '', content = '']) => {
        const text = readXml(content.replace(/<f\b[^>]*>.*?<\/f>/gs, ''));
        return /\bt="s"/.test(attributes) ? (strings[Number(text)] ?? '') : text;
      })
      .join('\t');
  });
  return rows.join('\n');
}

function readXml(xml: string): string {
  return xml
    .replace(/<(w:tab|text:tab)\b[^>]*>|<\/(w:tc|a:tc|table:table-cell)>/g, '\t')
    .replace(/<(w:br|text:line-break)\b[^>]*>|<\/(w:p|a:p|text:p|text:h|table:table-row)>/g, '\n')
    .replace(/<text:s\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(
      /&(lt|gt|quot|apos|amp|#x?[\da-f]{1,6});/gi,
      (entity, name: string) => ENTITIES[name] ?? readCode(name, entity),
    )
    .replace(/[ \t]*\n[ \t]*(?=\t?\n)/g, '\n')
    .trim();
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function readCode(name: string, entity: string): string {
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
