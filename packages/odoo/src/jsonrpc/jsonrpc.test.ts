import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildExecuteKw, matchResultHead } from './jsonrpc.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('the request body', () => {
  test('is the execute_kw envelope, with the bytes of params and keyword unchanged', () => {
    const params = encode('[ [3, 12345678901234567890],1.0 ]');
    const keyword = encode('{"b":1.0,  "a":"\\u00e9"}');
    const body = buildExecuteKw({
      db: 'shop "é"',
      userId: 2,
      apiKey: 'secret',
      model: 'res.partner',
      method: 'read',
      params,
      keyword,
    });
    expect(decode(body)).toBe(
      '{"jsonrpc":"2.0","method":"call","params":{"service":"object","method":"execute_kw","args":' +
        '["shop \\"é\\"",2,"secret","res.partner","read",[ [3, 12345678901234567890],1.0 ],{"b":1.0,  "a":"\\u00e9"}]},"id":1}',
    );
  });

  test('keeps texts of any content inside their own argument', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.nat(),
        fc.json(),
        (db, apiKey, userId, value) => {
          const body = buildExecuteKw({
            db,
            userId,
            apiKey,
            model: 'res.partner',
            method: 'read',
            params: encode(`[${value}]`),
            keyword: encode('{}'),
          });
          const sent = JSON.parse(decode(body));
          expect(sent).toStrictEqual({
            jsonrpc: '2.0',
            method: 'call',
            params: {
              service: 'object',
              method: 'execute_kw',
              args: [db, userId, apiKey, 'res.partner', 'read', [JSON.parse(value)], {}],
            },
            id: 1,
          });
        },
      ),
    );
  });

  test('escapes a lone surrogate instead of replacing it', () => {
    const call = { userId: 2, apiKey: 'k', model: 'a.b', method: 'read' };
    const body = buildExecuteKw({ ...call, db: 'a\ud800', params: encode('[]'), keyword: encode('{}') });
    expect(decode(body)).toContain('"a\\ud800"');
  });
});

/** Splits the text at every offset, and classifies each beginning. */
function matchPrefixes(text: string): string[] {
  const bytes = encode(text);
  return Array.from(
    { length: bytes.length + 1 },
    (_, length) => matchResultHead(bytes.subarray(0, length)).kind,
  );
}

describe('the beginning of an answer', () => {
  const spaced = '{"jsonrpc": "2.0", "id": 1';
  const compact = '{"jsonrpc":"2.0","id":1';

  test.each([
    [`${spaced}, "result": `, '[{"id": 3}]}'],
    [`${compact},"result":`, '[{"id":3}]}'],
    [`${spaced}, "result": `, 'false}'],
  ])('of a result gives the offset of the value, at every split of %s', (head, rest) => {
    const bytes = encode(head + rest);
    // A compact beginning is complete only if the next byte is not a space.
    const toldFrom = head.endsWith(' ') ? head.length : head.length + 1;
    for (let length = 0; length <= bytes.length; length++) {
      const told = matchResultHead(bytes.subarray(0, length));
      expect(told).toStrictEqual(
        length < toldFrom ? { kind: 'more' } : { kind: 'result', resultStart: head.length },
      );
    }
  });

  test.each([
    [`${spaced}, "error": `, '{"code": 200}}'],
    [`${compact},"error":`, '{"code":200}}'],
  ])('of an error is recognised at every split of %s', (head, rest) => {
    const kinds = matchPrefixes(head + rest);
    const toldFrom = head.endsWith(' ') ? head.length : head.length + 1;
    expect(kinds.slice(0, toldFrom)).toStrictEqual(Array(toldFrom).fill('more'));
    expect(kinds.slice(toldFrom)).toStrictEqual(
      Array(rest.length + (head.endsWith(' ') ? 1 : 0)).fill('error'),
    );
  });

  test.each([`${spaced}}`, `${compact}}`])(
    'of None is empty if it is complete, and unknown before: %s',
    (text) => {
      const kinds = matchPrefixes(text);
      expect(kinds.pop()).toBe('empty');
      expect(new Set(kinds)).toStrictEqual(new Set(['more']));
      expect(matchResultHead(encode(`${text}\r\n`)).kind).toBe('empty');
      expect(matchResultHead(encode(`${text}{}`)).kind).toBe('other');
    },
  );

  test('is never classified as a result if one byte differs', () => {
    const head = `${spaced}, "result": `;
    for (let at = 0; at < head.length; at++) {
      // Without its last space, the head has the compact form; any other changed byte makes it invalid.
      const bytes = encode(`${head}1}`);
      bytes[at] = 0x21;
      const told = matchResultHead(bytes);
      if (head[at] === ' ' && at === head.length - 1) continue;
      expect(told.kind, `byte ${at}`).toBe('other');
    }
  });

  test.each([
    '<!DOCTYPE html>',
    '[]',
    'null',
    ' {"jsonrpc": "2.0", "id": 1, "result": 1}',
    '\ufeff{"jsonrpc": "2.0", "id": 1, "result": 1}',
    '{"jsonrpc": "2.0", "id": 10, "result": 1}',
    '{"jsonrpc": "2.0", "id": null, "error": {}}',
    '{"jsonrpc": "2.0", "id": 1 , "result": 1}',
    '{"jsonrpc": "2.0",  "id": 1, "result": 1}',
    '{"id": 1, "jsonrpc": "2.0", "result": 1}',
    '{"jsonrpc": "2.0", "id": 1, "results": 1}',
    '{"jsonrpc": "2.0", "id": 1, "errors": 1}',
  ])('is left to the parser: %s', (text) => {
    expect(matchResultHead(encode(text)).kind).toBe('other');
  });
});
