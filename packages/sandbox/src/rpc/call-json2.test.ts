import { expect, test } from 'vitest';
import { bindNames } from './call-json2.ts';

test('fills in defaults, and accepts any name for **kwargs', () => {
  expect(bindNames('a, *rest, b=1, **more', { a: 0, c: 2 })).toEqual({ a: 0, rest: [], b: 1, c: 2 });
});

test.each<[string, Record<string, number>, string]>([
  ['vals', { nope: 1 }, "missing a required argument: 'vals'"],
  ['*, note', {}, "missing a required argument: 'note'"],
  ['vals=None', { nope: 1, other: 1 }, "got an unexpected keyword argument 'nope'"],
  ['*args', { args: 1 }, "got an unexpected keyword argument 'args'"],
])('reports a wrong call of f(%s) like inspect', (parameters, named, message) => {
  expect(() => bindNames(parameters, named)).toThrow(new RegExp(`^${message}$`));
});
