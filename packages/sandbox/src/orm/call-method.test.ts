import { describe, expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';

describe('ids', () => {
  const { call } = openEnvironment();
  const read = (ids: unknown) =>
    (call('res.partner', 'read', [ids, ['name']]) as { id: number }[]).map(({ id }) => id);

  test('are a list, one number, or nothing', () => {
    expect([read([9, 3]), read(9), read(false), read(0), read(null), read([])]).toEqual([
      [9, 3],
      [9],
      [],
      [],
      [],
      [],
    ]);
  });

  test('that are not a list are refused like in Python', () => {
    expect(() => read(true)).toThrow("'bool' object is not iterable");
  });

  test('as text find nothing, and fail in 16', () => {
    expect(read(['3'])).toEqual([]);
    expect(() => openEnvironment(16).call('res.partner', 'read', [['3'], ['name']])).toThrow(
      'Database fetch misses ids',
    );
  });

  test('that are missing cause an IndexError', () => {
    expect(() => call('res.partner', 'read', [])).toThrow('tuple index out of range');
    expect(() => openEnvironment(19).call('res.partner', 'read', [])).toThrow('list index out of range');
  });
});

describe('a context', () => {
  const { call } = openEnvironment();
  const read = (context: unknown) =>
    call('res.partner', 'read', [[3], ['name']], { context: context as never });

  test.each([null, false, '', [], {}])('of %j counts as empty', (context) => {
    expect(read(context)).toEqual([{ id: 3, name: 'Mitchell Admin' }]);
  });

  test('that is not a dictionary is refused', () => {
    expect(() => read('abc')).toThrow('dictionary update sequence element #0 has length 1; 2 is required');
    expect(() => read(1)).toThrow("'int' object is not iterable");
  });

  test('in an uninstalled language is refused from 18 on', () => {
    expect(() => read({ lang: 'fr_FR' })).toThrow('Invalid language code: fr_FR');
    const older = openEnvironment(17).call('res.partner', 'read', [[3], ['name']], {
      context: { lang: 'fr_FR' },
    });
    expect(older).toEqual([{ id: 3, name: 'Mitchell Admin' }]);
  });
});

test('private and unknown names are refused, with the message of each version', () => {
  const refuse = (version: 16 | 17 | 18 | 19, method: string) => {
    try {
      openEnvironment(version).call('res.partner', method, [[3]]);
    } catch (error) {
      return (error as Error).message;
    }
    return 'taken';
  };
  expect(refuse(18, '_write')).toBe('Private methods (such as _write) cannot be called remotely.');
  expect(refuse(19, 'exists')).toBe(
    "Private methods (such as 'res.partner.exists') cannot be called remotely.",
  );
  expect(refuse(16, 'nope')).toBe("type object 'res.partner' has no attribute 'nope'");
  expect(refuse(18, 'nope')).toBe("The method 'nope' does not exist on the model 'res.partner'");
  expect(refuse(19, 'nope')).toBe("The method 'res.partner.nope' does not exist");
});
