import { json, jsonLanguage } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { findPlace } from './complete-json.ts';
import { findChange } from './find-change.ts';
import { findProblems } from './find-problems.ts';
import { locatePath } from './locate-path.ts';

const POLICY = `{
  "models": { "res.*": ["read", "serch"], "a\\"b": [] },
  "cidrs": [
    { "x": 1 }
  ]
}`;

test.each([
  ['models', '"models"'],
  ['models["res.*"]', '"res.*"'],
  ['models["res.*"][1]', '"serch"'],
  ['models["a\\"b"]', '"a\\"b"'],
  ['cidrs[0]', '{ "x": 1 }'],
  ['cidrs[0].x', '"x"'],
  ['cidrs[0].missing.deeper', '{ "x": 1 }'],
  ['', ''],
])('the fault at %s stands at %s', (path, place) => {
  const { from, to } = locatePath(jsonLanguage.parser.parse(POLICY), POLICY, path);
  expect(POLICY.slice(from, to)).toBe(place);
});

test.each([
  ['{"a": }', 6],
  ['{"a": 1,}', 8],
  ['[1, 2', 5],
  ['nonsense', 0],
])('the mistake of %s is at %i', (text, position) => {
  const [problem] = findProblems(EditorState.create({ doc: text, extensions: json() }), []);
  expect(problem?.from).toBe(position);
  expect(problem?.message).not.toMatch(/position|not valid/);
});

test('an empty text has no mistake, and faults of others come with their line', () => {
  const find = (doc: string, faults: Parameters<typeof findProblems>[1]) =>
    findProblems(EditorState.create({ doc, extensions: json() }), faults);
  expect(find('  ', [])).toEqual([]);
  expect(find(POLICY, [{ path: 'cidrs[0]', message: 'must be a network' }])).toMatchObject([
    { line: 4, message: 'cidrs[0] must be a network' },
  ]);
  expect(find('[]', [{ offset: 99, message: 'ends too early' }])).toMatchObject([{ from: 2 }]);
});

/** `|` marks the cursor. */
test.each([
  ['{|}', 'name', [], null],
  ['{"a|": 1}', 'name', [], null],
  ['{"a": 1, "b|', 'name', [], null],
  ['{"a": |}', 'value', ['a'], null],
  ['{"a": "x|"}', 'value', ['a'], null],
  ['{"a": {"b": [1, |]}}', 'value', ['a', 'b', 1], null],
  ['[["name", "i|"]]', 'value', [0, 1], 'name'],
  ['[["name", "|', 'value', [0, 1], 'name'],
  ['[["name", |]]', 'value', [0, 1], 'name'],
  ['["|", ["a", "=", 1]]', 'value', [0], null],
  ['["&", |["a", "=", 1]]', 'value', [1], '&'],
  ['|', 'value', [], null],
  ['{"a": [1]|}', 'value', ['a'], null],
])('the cursor in %s expects a %s', (marked, expects, path, previous) => {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  expect(findPlace(jsonLanguage.parser.parse(text), text, offset).place).toEqual({ expects, path, previous });
});

test('a change from outside touches only what differs', () => {
  for (const [before, after] of [
    ['abc', 'abXc'],
    ['aa', 'aaa'],
    ['aaa', 'a'],
    ['', 'x'],
    ['same', 'same'],
    ['["a"]', '["b"]'],
  ] as const) {
    const { from, to, insert } = findChange(before, after);
    expect(before.slice(0, from) + insert + before.slice(to)).toBe(after);
    expect(to - from + insert.length).toBeLessThanOrEqual(Math.abs(before.length - after.length) + 2);
  }
});
