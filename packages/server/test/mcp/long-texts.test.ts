/** Tests texts that are too long for one answer: they are read in parts with `offset`. */
import { expect, test } from 'vitest';
import { type Stage, startStage, type ToolResult } from './stage.ts';

const WORDS = Array.from({ length: 3000 }, (_, index) => `word${index}`);
const SUFFIX = /… \(\d+ characters\)$/;

/** Reads all parts of the text, each from the `next` of the part before. */
async function readOn(
  { call }: Stage,
  tool: string,
  args: object,
  find: (data: ToolResult['data']) => string,
) {
  const parts: string[] = [];
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const { data, text }: ToolResult = await call(tool, { ...args, offset });
    expect(data, text).toBeDefined();
    expect(text.length).toBeLessThan(8000);
    expect(text.isWellFormed()).toBe(true);
    parts.push(find(data));
    if (data.next !== undefined) {
      expect(data.next).toBeGreaterThan(offset);
      expect(data.clipped).toBeTruthy();
    }
    offset = data.next;
  }
  return parts;
}

test.each([
  ['HTML', 'crm.lead', 'description', `<p>${WORDS.join('</p><p title="a &amp; b">')}</p>`, '\n'],
  ['text', 'product.template', 'description_sale', WORDS.join('😀'), '😀'],
])('a long text is read on: %s', async (_, model, field, value, separator) => {
  const stage = await startStage();
  const made = await stage.call('create_record', { model, values: { name: 'Long', [field]: value } });
  const args = { model, ids: [made.data.id], fields: [field] };
  const parts = await readOn(stage, 'read_records', args, ({ records }) => records[0][field]);
  expect(parts.length).toBeGreaterThan(5);
  const whole = parts.map((part) => part.replace(SUFFIX, '')).join(separator === '\n' ? '\n' : '');
  expect(whole.split(/\s+|😀/).filter(Boolean)).toEqual(WORDS);
});

test('a long file is read on', async () => {
  const stage = await startStage();
  const datas = Buffer.from(WORDS.join('\n')).toString('base64');
  const values = { name: 'long.txt', datas, mimetype: 'text/plain' };
  const { data } = await stage.call('create_record', { model: 'ir.attachment', values });
  const args = { model: 'ir.attachment', id: data.id };
  const parts = await readOn(stage, 'read_file', args, ({ text }) => text);
  expect(parts.length).toBeGreaterThan(3);
  expect(parts.join('')).toBe(WORDS.join('\n'));
});

test('an offset needs one id and one field', async () => {
  const { call } = await startStage();
  for (const args of [{ ids: [1, 2], fields: ['name'] }, { ids: [1] }, { ids: [1], fields: ['active'] }]) {
    const { text } = await call('read_records', { model: 'res.partner', offset: 5, ...args });
    expect(text).toMatch(/^invalid_params: `offset` needs one id and one field with a text\.\nNext: Send/);
  }
});
