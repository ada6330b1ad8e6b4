import { expect, test } from 'vitest';
import {
  buildCall,
  type CallForm,
  EMPTY_FORM,
  findMethod,
  listActions,
  listArguments,
  type Method,
  setArgument,
} from './call-form.ts';
import { addToHistory, clearHistory, readHistory } from './call-history.ts';
import { loadForm, readSearch, saveForm } from './read-form.ts';

const SEARCH_READ: Method = {
  kind: 'read',
  params: [{ name: 'domain' }, { name: 'fields' }, { name: 'limit' }],
};
const WRITE: Method = {
  kind: 'write',
  params: [
    { name: 'ids', required: true },
    { name: 'vals', required: true },
  ],
};
const UNKNOWN: Method = { kind: 'unknown', params: null };

const fill = (args: CallForm['args'], action = 'search_read'): CallForm => ({
  ...EMPTY_FORM,
  model: 'res.partner',
  action,
  args,
});

test('the first argument goes by position, the others by name', () => {
  const form = fill({
    domain: '[["a", "=", 1]]',
    fields: '["name"]',
    limit: '5',
    context: '{"lang": "fr_FR"}',
  });
  expect(buildCall(form, SEARCH_READ)).toEqual({
    call: {
      model_id: 'res.partner',
      action: 'search_read',
      params: [[['a', '=', 1]]],
      keyword: { fields: ['name'], limit: 5, context: { lang: 'fr_FR' } },
    },
    mistakes: [],
  });
  expect(buildCall(fill({ limit: '5' }), SEARCH_READ).call).toMatchObject({
    params: [],
    keyword: { limit: 5 },
  });
});

test('what is missing or not valid is named, and the rest is read', () => {
  expect(buildCall(fill({ ids: '[1]' }, 'write'), WRITE).mistakes).toEqual([
    { name: 'vals', message: 'is required' },
  ]);
  expect(buildCall(fill({ ids: '[1]', vals: '{' }, 'write'), WRITE)).toMatchObject({
    call: { params: [[1]] },
    mistakes: [{ name: 'vals', message: 'is not valid JSON' }],
  });
  expect(buildCall(fill({ domain: '[["", "=", ""]]' }), SEARCH_READ).mistakes).toMatchObject([
    { name: 'domain' },
  ]);
  expect(buildCall(EMPTY_FORM, SEARCH_READ).mistakes).toMatchObject([{ name: 'model' }]);
});

test('a method that is not known takes lists and objects as they are', () => {
  expect(listArguments(UNKNOWN)).toEqual(['params', 'keyword', 'context']);
  expect(buildCall(fill({ params: '[[4]]', keyword: '{"x": 1}' }), UNKNOWN)).toMatchObject({
    call: { params: [[4]], keyword: { x: 1 } },
    mistakes: [],
  });
  expect(buildCall(fill({ params: '{}', keyword: '[]', context: '3' }), UNKNOWN).mistakes).toHaveLength(3);
});

function createStorage() {
  const items = new Map<string, string>();
  return {
    items,
    getItem: (name: string) => items.get(name) ?? null,
    setItem: (name: string, text: string) => void items.set(name, text),
    removeItem: (name: string) => void items.delete(name),
  };
}

test('a form returns from the URL, and a long one from the storage of the tab', () => {
  const storage = createStorage();
  const short = fill({ domain: '[]' });
  const search = saveForm(short, 'd1', storage);
  expect(search).toEqual({ model: 'res.partner', args: { domain: '[]' } });
  expect(loadForm(readSearch({ ...search }), storage)).toEqual(short);
  expect(storage.items.size).toBe(0);

  const long = fill({ domain: JSON.stringify(['x'.repeat(5_000)]) });
  expect(saveForm(long, 'd1', storage)).toEqual({ draft: 'd1' });
  expect(loadForm(readSearch({ draft: 'd1' }), storage)).toEqual(long);
  expect(loadForm({ draft: 'gone' }, storage)).toEqual(EMPTY_FORM);
});

test('a link with nonsense opens the empty form', () => {
  expect(readSearch({ model: ['x'], args: 'text', values: 7, action: null })).toEqual({});
});

test('the history keeps 50 calls, and survives what is not valid', () => {
  const storage = createStorage();
  for (let n = 0; n < 60; n++) {
    addToHistory(storage, {
      at: `2026-01-01T00:00:${n}Z`,
      form: fill({ limit: String(n) }),
      outcome: 'ok',
      totalMs: n,
    });
  }
  expect(readHistory(storage)).toHaveLength(50);
  expect(readHistory(storage)[0]?.form.args['limit']).toBe('59');
  for (const [name] of storage.items) storage.setItem(name, '[null, {"at": 1}, 5]');
  expect(readHistory(storage)).toEqual([]);
  for (const [name] of storage.items) storage.setItem(name, '{');
  expect(readHistory(storage)).toEqual([]);
  clearHistory(storage);
  expect(storage.items.size).toBe(0);
});

test('an argument is set and taken away', () => {
  expect(setArgument({ limit: '1' }, 'limit', 5)).toEqual({ limit: '5' });
  expect(setArgument({ limit: '1' }, 'limit', undefined)).toEqual({});
});

test('a method is found by its model first', () => {
  const methods = [
    { action: 'search', model: null, kind: 'read', params: [] },
    { action: 'search', model: 'x.model', kind: 'write', params: [] },
    { action: 'own', model: 'x.model', kind: 'unknown', params: [] },
  ] as const satisfies Parameters<typeof findMethod>[0];
  expect(findMethod(methods, 'x.model', 'search').kind).toBe('write');
  expect(findMethod(methods, 'res.partner', 'search').kind).toBe('read');
  expect(findMethod(methods, 'res.partner', 'own')).toEqual({ params: null, kind: 'unknown' });
  expect(listActions(methods, 'x.model')).toEqual(['search', 'own']);
  expect(listActions(methods, 'res.partner')).toEqual(['search']);
});

test('an integer that the browser would change prevents the call', () => {
  const read = (vals: string) =>
    buildCall(
      { ...EMPTY_FORM, model: 'a', action: 'f', args: { vals } },
      {
        params: [{ name: 'vals' }],
        kind: 'write',
      },
    ).mistakes;
  expect(read('{"a": 9007199254740993}')).toMatchObject([{ name: 'vals' }]);
  expect(read('{"a": [-9007199254740991, 1.25, 1e3], "b": "9007199254740993 \\" 9007199254740993"}')).toEqual(
    [],
  );
});
