import { expect, test } from 'vitest';
import { bindArguments } from './bind-arguments.ts';

const signature = "domain, offset=0, limit=None, order='id'";

test('binds positional and named arguments, and fills in defaults', () => {
  expect(bindArguments('f', signature, [[], 2], { limit: 3 })).toEqual({
    domain: [],
    offset: 2,
    limit: 3,
    order: 'id',
  });
});

test.each<[string, unknown[], Record<string, number>, string]>([
  [signature, [], {}, "f() missing 1 required positional argument: 'domain'"],
  ['a, b', [], {}, "f() missing 2 required positional arguments: 'a' and 'b'"],
  ['a, b, c', [], {}, "f() missing 3 required positional arguments: 'a', 'b', and 'c'"],
  [signature, [1], { domain: 1 }, "f() got multiple values for argument 'domain'"],
  [signature, [1], { nope: 1 }, "f() got an unexpected keyword argument 'nope'"],
  [signature, [1, 2, 3, 4, 5], {}, 'f() takes from 2 to 5 positional arguments but 6 were given'],
  ['a', [1, 2], {}, 'f() takes 2 positional arguments but 3 were given'],
  ['', [1], {}, 'f() takes 1 positional argument but 2 were given'],
  ["*, body=''", [1], {}, 'f() takes 1 positional argument but 2 were given'],
])('reports a wrong call of f(%s) like Python', (parameters, args, named, message) => {
  expect(() => bindArguments('f', parameters, args as never, named)).toThrow(message);
});

test('accepts any name if the method does', () => {
  expect(bindArguments('f', 'domain=None, **read_kwargs', [], { load: '' })).toEqual({
    domain: null,
    load: '',
  });
});
