import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DuplicateMemberError, readValue } from './read-value.ts';
import { JsonSyntaxError } from './scan.ts';

const read = (text: string) => readValue(Buffer.from(text));

test('reads what JSON.parse reads', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
});

describe('refuses a member that an object names twice, with its path', () => {
  test.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"policy":{"x":1},"policy":null}', 'policy'],
    ['{"policy": {"models": {"res.partner":["read"], "res.partner":["*"]}}}', 'policy.models["res.partner"]'],
    ['{"a":[{},{"b":[[0,{"c":{},"d":"}","c":[]}]]}]}', 'a[1].b[0][1].c'],
    ['[{"a":1},{"a":{"b":1,"b":2},"a":3}]', '[1].a.b'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"":1,"":2}', '[""]'],
    ['{"a b":{"c":"{\\"a\\":","c":1}}', '["a b"].c'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
    [`${'['.repeat(40)}{"a":1,"a":2}`.padEnd(93, ']'), `…${'[0]'.repeat(31)}.a`],
  ])('%s', (text, path) => {
    const fault = catchFault(text);
    expect(fault).toBeInstanceOf(DuplicateMemberError);
    expect(fault).toMatchObject({ path });
  });

  test('at any position', () => {
    const names = fc.string({ unit: 'binary', minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.array(fc.oneof(names, fc.nat(3)), { maxLength: 6 }),
        names,
        (value, way, name) => {
          const doubled = `{${JSON.stringify(name)}:${JSON.stringify(value)},"":0,${JSON.stringify(name)}:null}`;
          const wrap = (inner: string, step: string | number) =>
            typeof step === 'string'
              ? `{${JSON.stringify(step)}:${inner}}`
              : `[${'0,'.repeat(step)}${inner}]`;
          expect(catchFault(way.reduceRight(wrap, doubled))).toBeInstanceOf(DuplicateMemberError);
        },
      ),
    );
  });
});

test('accepts equal names in different objects', () => {
  const text = '{"a":{"a":[{"a":1},{"a":1}]},"b":{"a":1}}';
  expect(read(text)).toEqual(JSON.parse(text));
});

test.each(['', '{', '{"a":1,}', '\ufeff{}', '{} {}', '"\ud800'])('refuses invalid JSON: %j', (text) => {
  expect(catchFault(text)).toBeInstanceOf(JsonSyntaxError);
});

test('takes time proportional to the length of a text, whatever its depth', () => {
  const depth = 100_000;
  const text = `${'{"a":['.repeat(depth)}${']}'.repeat(depth)}`;
  // Work that is quadratic in the depth would take minutes.
  expect(() => read(text)).not.toThrow(DuplicateMemberError);
});

function catchFault(text: string): unknown {
  try {
    return read(text);
  } catch (error) {
    return error;
  }
}
