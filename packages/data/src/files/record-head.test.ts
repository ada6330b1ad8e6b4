import { expect, test } from 'vitest';
import { readRecordHead } from './record-head.ts';

const ENVELOPE = '{"jsonrpc":"2.0","id":"a\\"b","result":';

function read(text: string, field = 'datas') {
  return readRecordHead(Buffer.from(text), field);
}

test('finds the file after the other fields, and is incomplete at every place before it', () => {
  const head = `${ENVELOPE} [ {"id": 7, "name": "a \\"b\\" é", "mimetype" : "text/plain", "size": -1.5e3, "datas" : "`;
  for (let end = 0; end < head.length; end++) expect(read(head.slice(0, end)).kind).toBe('incomplete');
  const found = read(`${head}AAAA"}]}`);
  expect(found).toEqual({
    kind: 'file',
    start: Buffer.byteLength(head),
    texts: new Map([
      ['id', '7'],
      ['name', 'a "b" é'],
      ['mimetype', 'text/plain'],
      ['size', '-1.5e3'],
    ]),
  });
});

test.each([
  [`${ENVELOPE}[]}`, 'no_record'],
  [`${ENVELOPE}[null]}`, 'no_record'],
  [`${ENVELOPE}true}`, 'no_file'],
  [`${ENVELOPE}{"id": 7, "datas": "AAAA"}}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7}]}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7, "datas": 12.5}]}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7, "datas": [1]}]}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7, "datas": true}]}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7, "datas": false}]}`, 'empty'],
  [`${ENVELOPE}[{"id": 7, "datas": null}]}`, 'empty'],
  [`${ENVELOPE}[{"id": 7, "datas": {"filename": "a", "content": "AAAA", "size": 3}}]}`, 'file'],
  [`${ENVELOPE}[{"id": 7, "datas": {"filename": "a", "content": false, "size": 0}}]}`, 'empty'],
  [`${ENVELOPE}[{"id": 7, "datas": {"filename": "a", "size": 3}}]}`, 'no_file'],
  [`${ENVELOPE}[{"id": 7, "datas": {"content": {"content": "AAAA"}}}]}`, 'no_file'],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":200}}', 'error'],
  [`${ENVELOPE}[{"na\\qme": "x", "datas": "AAAA"}]}`, 'no_file'],
  [`${ENVELOPE}[{"id" 7}]}`, 'incomplete'],
])('%s is %s', (text, kind) => {
  expect(read(text).kind).toBe(kind);
});
