import { deflateRawSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { extractText } from './extract-text.ts';
import { makePdf } from './pdf.fixture.ts';

const zip = (files: Record<string, string>) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));

test('the text of a PDF, page by page', async () => {
  expect(await extractText(makePdf('Invoice INV/2026/00007', 'Total 121.00'))).toBe(
    'Invoice INV/2026/00007\n\nTotal 121.00',
  );
});

test('the text of a document of Word, with its paragraphs and cells', async () => {
  const xml =
    '<w:document><w:p><w:r><w:t>Terms &amp; </w:t></w:r><w:r><w:t>prices</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:t>Chair</w:t></w:p></w:tc><w:tc><w:p><w:t>70</w:t></w:p></w:tc></w:tr></w:tbl></w:document>';
  const text = await extractText(zip({ 'word/document.xml': xml, 'word/media/a.bin': 'x' }));
  expect(text?.replace(/\s+/g, ' ')).toBe('Terms & prices Chair 70');
});

test('the cells of a sheet of Excel, a line for each row', async () => {
  const strings = '<sst><si><t>Product</t></si><si><r><t>Large </t></r><r><t>Desk</t></r></si></sst>';
  const sheet =
    '<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Price</t></is></c></row><row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><f>1+1</f><v>2</v></c><c r="C2"/></row></sheetData>';
  const file = zip({ 'xl/sharedStrings.xml': strings, 'xl/worksheets/sheet1.xml': sheet });
  expect(await extractText(file)).toBe('Product\tPrice\nLarge Desk\t2');
});

test('slides in their order, and OpenDocument', async () => {
  const slide = (text: string) => `<p:sld><a:p><a:t>${text}</a:t></a:p></p:sld>`;
  const slides = zip({ 'ppt/slides/slide10.xml': slide('ten'), 'ppt/slides/slide2.xml': slide('two') });
  expect(await extractText(slides)).toBe('two\n\nten');
  const content = '<office:text><text:h>Title</text:h><text:p>One<text:s/>two</text:p></office:text>';
  expect(await extractText(zip({ 'content.xml': content }))).toBe('Title\nOne two');
});

test('another file has no text', async () => {
  expect(await extractText(zip({ 'readme.txt': 'text' }))).toBeNull();
  expect(await extractText(Buffer.from('text'))).toBeNull();
});

/** A ZIP archive whose parts share their bytes. `stated`: the unpacked size that its directory states. */
function zipSameBytes(count: number, { compressed, stated }: { compressed: Buffer | null; stated: number }) {
  const plain = Buffer.alloc(stated || 400_000, 'a');
  const bytes = compressed ?? plain;
  const method = compressed === null ? 0 : 8;
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(method, 8);
  local.writeUInt32LE(bytes.length, 18);
  local.writeUInt32LE(stated, 22);
  const directory = Array.from({ length: count }, (_, index) => {
    const name = Buffer.from(`ppt/slides/slide${index}.xml`);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(bytes.length, 20);
    entry.writeUInt32LE(stated, 24);
    entry.writeUInt16LE(name.length, 28);
    return Buffer.concat([entry, name]);
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    12,
  );
  end.writeUInt32LE(local.length + bytes.length, 16);
  return Buffer.concat([local, bytes, ...directory, end]);
}

test('parts of an archive that are too large together are not unpacked', async () => {
  const stated = 1024 * 1024;
  const compressed = deflateRawSync(Buffer.alloc(stated, 'a'));
  expect((await extractText(zipSameBytes(3, { compressed, stated })))?.length).toBe(512 * 1024);
  await expect(extractText(zipSameBytes(17, { compressed, stated }))).rejects.toThrow(RangeError);
  // Stored without compression, with a stated size of 0.
  await expect(extractText(zipSameBytes(100, { compressed: null, stated: 0 }))).rejects.toThrow(RangeError);
});
