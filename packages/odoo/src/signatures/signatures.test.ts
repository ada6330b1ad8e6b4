import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Parameter, parseSignature, type Signature } from './signature.ts';
import { findSignature, OVERRIDES, SIGNATURES } from './signatures.ts';

interface Recorded {
  models: string[];
  /** Methods of six models: `[private ]ids|model (name=default, …)`, with `(kw)` and `(pos)` for the kind. */
  onEveryModel: Record<string, string | Record<string, string[]>>;
  /** Methods of all models: `ids|model (names)`, with the number of the models or their names. */
  names: Record<string, Record<string, number | string[]>>;
}

const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../../test/data/signatures-19.0.json', import.meta.url), 'utf8'),
);

/** Converts the notation of the recorder into that of signatures.ts. */
function readRecorded(text: string): Signature {
  const [, head, list] = /^(.*?) \((.*)\)$/.exec(text)!;
  const words = list === '' ? [] : list!.split(', ');
  const parameters = words.map((word): Parameter => {
    const name = /^\**(\w+)/.exec(word)![1]!;
    const isOptional = word.startsWith('*') || word.includes('=');
    const kind = word.startsWith('**')
      ? 'var_keyword'
      : word.startsWith('*')
        ? 'var_positional'
        : word.endsWith('(kw)')
          ? 'keyword_only'
          : word.endsWith('(pos)')
            ? 'positional_only'
            : 'positional';
    return { name, kind, isRequired: !isOptional };
  });
  return {
    kind: head!.endsWith('ids') ? 'ids' : 'model',
    parameters,
    isPrivate: head!.startsWith('private'),
  };
}

/** The notation in which the list of names was recorded: without kinds and defaults. */
function listNames({ kind, parameters }: Signature): string {
  const stars = { var_positional: '*', var_keyword: '**' } as Record<string, string>;
  return `${kind} (${parameters.map((parameter) => (stars[parameter.kind] ?? '') + parameter.name).join(', ')})`;
}

describe('the table', () => {
  test('has exactly the methods that all models had', () => {
    expect([...SIGNATURES.keys()].sort()).toStrictEqual(Object.keys(recorded.onEveryModel).sort());
  });

  test.each(Object.entries(recorded.onEveryModel))('has the recorded parameters of %s', (method, text) => {
    const variants = typeof text === 'string' ? { [text]: recorded.models } : text;
    for (const [variant, models] of Object.entries(variants)) {
      for (const model of models)
        expect(findSignature(model, method), model).toStrictEqual(readRecorded(variant));
    }
  });

  test.each(Object.entries(recorded.names))(
    'has the names of %s that all 397 models have',
    (method, lists) => {
      const [common, ...others] = Object.entries(lists).sort(([, a], [, b]) => Number(b) - Number(a) || 0);
      expect(listNames(SIGNATURES.get(method)!)).toBe(common![0]);
      for (const [list, models] of others) {
        for (const model of models as string[])
          expect(listNames(findSignature(model, method)!), model).toBe(list);
      }
    },
  );

  test('has four overrides', () => {
    const overridden = Object.entries(recorded.names).flatMap(([method, lists]) =>
      Object.values(lists).flatMap((models) =>
        Array.isArray(models) ? models.map((model) => `${model}/${method}`) : [],
      ),
    );
    expect([...OVERRIDES.keys()].sort()).toStrictEqual(overridden.sort());
  });

  test('has no method of a single model, and none of a JavaScript object', () => {
    for (const method of ['action_confirm', 'name_get', 'constructor', 'toString', '__proto__', ''])
      expect(findSignature('sale.order', method)).toBeUndefined();
  });
});

describe('the notation', () => {
  test('can express every kind of parameter', () => {
    expect(parseSignature('private ids (a, b=, /, c, d=, *, e, f=, **g)')).toStrictEqual({
      kind: 'ids',
      isPrivate: true,
      parameters: [
        { name: 'a', kind: 'positional_only', isRequired: true },
        { name: 'b', kind: 'positional_only', isRequired: false },
        { name: 'c', kind: 'positional', isRequired: true },
        { name: 'd', kind: 'positional', isRequired: false },
        { name: 'e', kind: 'keyword_only', isRequired: true },
        { name: 'f', kind: 'keyword_only', isRequired: false },
        { name: 'g', kind: 'var_keyword', isRequired: false },
      ],
    });
  });

  test.each(['read (a)', 'ids a', 'ids (a b)', 'ids (a=1)', 'ids (a,b)'])('refuses %s', (text) => {
    expect(() => parseSignature(text)).toThrow(/^Not a /);
  });
});
