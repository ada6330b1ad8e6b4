import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { readDocPage } from './doc-page.ts';
import { parseSignature } from './signature.ts';
import { SIGNATURES } from './signatures.ts';

/** The recorded page, without its texts and fields. */
const recorded = readFileSync(new URL('../../test/data/doc-crm.tag-19.0.json', import.meta.url));

const read = (page: unknown, model = 'x.model') => readDocPage(Buffer.from(JSON.stringify(page)), model);
const readMethods = (page: unknown, model?: string) => {
  const outcome = read(page, model);
  if ('refusal' in outcome) throw new Error(outcome.refusal);
  return outcome.signatures;
};
const readOne = (method: unknown) => readMethods({ model: 'x.model', methods: { run: method } }).get('run');

describe('the recorded page', () => {
  const outcome = readDocPage(recorded, 'crm.tag');
  const signatures = 'signatures' in outcome ? outcome.signatures : new Map();

  test('contains every method that it lists', () => {
    expect([...signatures.keys()]).toStrictEqual(Object.keys(JSON.parse(recorded.toString()).methods));
    expect(signatures.size).toBe(49);
  });

  test('agrees with the table on every public method that is not deprecated', () => {
    const unlisted = /^(read_group|check_access_rights|check_access_rule|toggle_active|message_post)$/;
    const expected = [...SIGNATURES].filter(([name, { isPrivate }]) => !isPrivate && !unlisted.test(name));
    for (const [name, signature] of expected) expect(signatures.get(name), name).toStrictEqual(signature);
    expect(expected.length).toBeGreaterThan(35);
  });

  test('is refused for another model', () => {
    expect(readDocPage(recorded, 'res.partner')).toStrictEqual({
      refusal: 'the page is not about the model that was asked for',
    });
  });

  test('loses the methods whose parameters a tool on the way has sorted', () => {
    const page = JSON.parse(recorded.toString());
    for (const method of Object.values<{ parameters: object }>(page.methods))
      method.parameters = Object.fromEntries(Object.entries(method.parameters).sort());
    const sorted = readMethods(page, 'crm.tag');
    for (const [name, signature] of sorted) expect(signature, name).toStrictEqual(signatures.get(name));
    expect(sorted.has('search')).toBe(false);
    expect(sorted.has('web_save')).toBe(false);
    expect(sorted.has('write')).toBe(true);
  });
});

describe('a method', () => {
  test('with every kind of parameter is read', () => {
    const parameters = {
      a: { kind: 'POSITIONAL_ONLY' },
      b: {},
      c: { kind: 'POSITIONAL_OR_KEYWORD', default: null },
      args: { kind: 'VAR_POSITIONAL' },
      d: { kind: 'KEYWORD_ONLY' },
      e: { kind: 'KEYWORD_ONLY', default: 1 },
      kwargs: { kind: 'VAR_KEYWORD' },
    };
    expect(
      readOne({ signature: '(a, b, c=None, args, d, e=1, kwargs) -> x', parameters, api: [] }),
    ).toStrictEqual(parseSignature('ids (a, /, b, c=, *args, d, e=, **kwargs)'));
  });

  test('with a default that the page could not print does not require the argument', () => {
    const parameters = { a: {}, b: {} };
    for (const signature of [
      '(a, b=<object>)',
      '(a, b: str | None = <object>)',
      '(a: int, b: str=1) -> None',
      "(a: dict[str, int], b=(1, ', (c', {'d': [2]}, \"it's\"))",
    ])
      expect(readOne({ signature, parameters }), signature).toStrictEqual(parseSignature('ids (a, b=)'));
  });

  test.each<[string, unknown]>([
    ['is no object', 'text'],
    ['has no signature', { parameters: {} }],
    ['has no parameters', { signature: '()' }],
    ['has parameters in a list', { signature: '(a)', parameters: ['a'] }],
    ['has a parameter that is no object', { signature: '(a)', parameters: { a: 1 } }],
    ['has a mark that nobody knows', { signature: '()', parameters: {}, api: ['static'] }],
    ['has a mark that is no text', { signature: '()', parameters: {}, api: [['model']] }],
    ['has marks in a text', { signature: '()', parameters: {}, api: 'model' }],
    ['has a kind that nobody knows', { signature: '(a)', parameters: { a: { kind: 'OTHER' } } }],
    ['has a kind that an object inherits', { signature: '(a)', parameters: { a: { kind: 'constructor' } } }],
    ['has a name that is no identifier', { signature: '(a",b)', parameters: { 'a",b': {} } }],
    ['has a name that is a number', { signature: '(b, 1)', parameters: { b: {}, 1: {} } }],
    ['has a parameter that the signature lacks', { signature: '(a)', parameters: { a: {}, b: {} } }],
    ['lacks a parameter that the signature has', { signature: '(a, x, b)', parameters: { a: {}, b: {} } }],
    ['lacks the last that the signature has', { signature: '(a, b, x=1)', parameters: { a: {}, b: {} } }],
    ['has a parameter that is two words', { signature: '(a b)', parameters: { a: {} } }],
    ['has a signature without an end', { signature: '(a', parameters: { a: {} } }],
    [
      'has the right order within a default only',
      { signature: "(b='(a, b)', a=1)", parameters: { a: { default: 1 }, b: { default: 1 } } },
    ],
    ['has parameters in another order', { signature: '(a, b)', parameters: { b: {}, a: {} } }],
    [
      'requires an argument behind a default',
      { signature: '(a=1, b)', parameters: { a: { default: 1 }, b: {} } },
    ],
    [
      'has a positional argument behind *args',
      { signature: '(args, b)', parameters: { args: { kind: 'VAR_POSITIONAL' }, b: {} } },
    ],
    [
      'has two **kwargs',
      { signature: '(a, b)', parameters: { a: { kind: 'VAR_KEYWORD' }, b: { kind: 'VAR_KEYWORD' } } },
    ],
    [
      'has hundreds of parameters',
      {
        signature: `(${Array.from({ length: 300 }, (_, i) => `p${i}`).join(', ')})`,
        parameters: Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, {}])),
      },
    ],
  ])('that %s is omitted', (_, method) => {
    expect(readOne(method)).toBeUndefined();
  });

  test('that is omitted does not affect the others', () => {
    const methods = { bad: 7, good: { signature: '()', parameters: {}, api: ['model'] } };
    expect([...readMethods({ model: 'x.model', methods })]).toStrictEqual([
      ['good', parseSignature('model ()')],
    ]);
  });

  test('cannot be one that every object inherits', () => {
    const text =
      '{"model":"x.model","methods":{"__proto__":{"signature":"()","parameters":{},"api":["model"]}}}';
    const outcome = readDocPage(Buffer.from(text), 'x.model');
    expect('signatures' in outcome && [...outcome.signatures.keys()]).toStrictEqual(['__proto__']);
    expect(readMethods({ model: 'x.model', methods: {} }).get('constructor')).toBeUndefined();
  });
});

describe('a page', () => {
  test.each([
    ['', 'the page is not JSON'],
    ['<!doctype html>', 'the page is not JSON'],
    ['\ufffd{', 'the page is not JSON'],
    ['[]', 'the page is not an object'],
    ['null', 'the page is not an object'],
    ['{}', 'the page is not about the model that was asked for'],
    ['{"model":"x.model"}', 'the page lists no methods'],
    ['{"model":"x.model","methods":[]}', 'the page lists no methods'],
    [
      '{"name":"odoo.exceptions.AccessError","message":"x"}',
      'the page is not about the model that was asked for',
    ],
  ])('%s is refused: %s', (text, refusal) => {
    expect(readDocPage(Buffer.from(text), 'x.model')).toStrictEqual({ refusal });
  });

  test('that is not UTF-8 is refused', () => {
    expect(readDocPage(Buffer.from([0x22, 0xff, 0x22]), 'x')).toStrictEqual({
      refusal: 'the page is not JSON',
    });
  });

  test('of any JSON never throws, nor gives a required argument without a name', () => {
    const word = fc.oneof(fc.constantFrom('a', 'b', 'ids', '*', 'VAR_KEYWORD', 'model'), fc.jsonValue());
    const method = fc.record(
      {
        signature: fc.oneof(fc.constantFrom('(a, b)', '(a, b=1)', '()'), word),
        parameters: fc.oneof(
          fc.dictionary(
            fc.constantFrom('a', 'b', '__proto__', 'c'),
            fc.record({ kind: word }, { requiredKeys: [] }),
          ),
          word,
        ),
        api: fc.oneof(fc.array(word), word),
      },
      { requiredKeys: [] },
    );
    const methods = fc.oneof(fc.dictionary(fc.string(), method), fc.jsonValue());
    fc.assert(
      fc.property(methods, (value) => {
        const outcome = read({ model: 'x.model', methods: value });
        if ('refusal' in outcome) return;
        for (const { parameters } of outcome.signatures.values())
          for (const { name } of parameters) expect(name).toMatch(/^\w+$/);
      }),
    );
  });

  test('with a signature made to slow down a search takes time that grows with its length only', async () => {
    const parameters = { a: {}, b: {} };
    const prepare = (filler: string) => {
      const write = (length: number) => `(${filler.repeat(length / filler.length)}`;
      const one = { run: { signature: write(1_000_000), parameters } };
      const signature = write(19_000);
      const many = Array.from({ length: 50 }, (_, index) => [`m${index}`, { signature, parameters }]);
      return [one, Object.fromEntries(many)].map((methods) => {
        const page = Buffer.from(JSON.stringify({ model: 'x.model', methods }));
        return () => readDocPage(page, 'x.model');
      });
    };
    const plain = prepare('x');
    for (const filler of ['(a', ', a', '(a: ', ':=', ' ', '("', "\\'"]) {
      for (const [index, readPlain] of plain.entries()) {
        // Quadratic work would take thousands of times as long.
        await expectCpuBelow(50, prepare(filler)[index] as () => unknown, readPlain, filler);
      }
    }
  });
});
