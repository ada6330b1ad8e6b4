/** Commands in values, distinguished from similar values. */

import type { ByteRange } from '@erp-proxy/json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../../server/test/random-cases.ts';
import { COMMANDS, type CommandVisitor, INSIDE, someCommand, someValueCommand } from './x2many-commands.ts';

/** Names that begin with `x` are fields of interest. */
function makeVisitor(bytes: Buffer, seen: string[]): CommandVisitor<string> {
  return {
    findField: ({ start, end }: ByteRange, depth: number) => {
      const name = bytes.toString('utf8', start + 1, end - 1);
      return name.startsWith('x') ? `${depth}${name}` : null;
    },
    visit: (field, command) => {
      seen.push(`${field} ${command === null ? 'none' : COMMANDS[command]}`);
      return false;
    },
  };
}

function list(text: string): string[] {
  const bytes = Buffer.from(text);
  const seen: string[] = [];
  someCommand(bytes, { start: 0, end: bytes.length }, makeVisitor(bytes, seen));
  return seen;
}

describe('visits', () => {
  test.each<[string, string[]]>([
    ['{"x": [[0, 0, {}], [1, 2, {}], [2, 3]]}', ['1x create', '1x update', '1x delete']],
    ['{"x":[[3,1],[4,1],[5],[6,0,[1,2]]]}', ['1x unlink', '1x link', '1x clear', '1x set']],
    ['{"x" : [ [ 0 , 0, {}] ] }', ['1x create']],
    ['{"x": [1, 2]}', ['1x set', '1x set']],
    [
      '{"x": [-1, "a", true, null, {}, [], [7], ["0"], [[0]], [0.5], [1e0]]}',
      ['1x set', ...Array.from({ length: 9 }, () => '1x none'), '1x update'],
    ],
    [
      '{"x": null, "xa": false, "xb": {}, "xc": [], "xd": "a", "xe": 1, "xf": true}',
      ['1x clear', '1xa clear', '1xb none'],
    ],
    [
      '{"x": [[0, 0, {"a": [[5]], "xa": [[1, 1, {"xb": [[2, 1]]}], [4, 1]]}], [3, 1]]}',
      ['1x create', '2xa update', '3xb delete', '2xa link', '1x unlink'],
    ],
    ['[{"x": []}, {"a": [[0]], "x": [[5]]}, [[{"xa": [[6]]}]]]', ['1x clear', '1xa set']],
    ['{"a": "x", "b": ["x", 0, [0]], "c": {"x": [[0]]}}', ['2x create']],
    ['{"x": [[0, 0, {"a": "]]}", "b": "\\"x\\": [["}], [4, 1]]}', ['1x create', '1x link']],
    ['"x"', []],
    ['[[0, 0, {}]]', []],
    // Python converts a list of pairs into an object.
    ['[["a", 1], ["x", [[0, 0, {}]]], [ "xa" , null], ["xb",{}]]', ['0x create', '0xa clear', '0xb none']],
    ['{"a": [[0, 0, [["x", [[4, 1]]]]]]}', ['1x link']],
    [
      '{"x": [[0, 0, [["xa", [[4, 1]]]]], [1, 2, {"a": [["xa", [[5]]]]}]]}',
      ['1x create', '1xa link', '1x update', '-1xa clear'],
    ],
    // Conditions and lists of names are not pairs.
    ['[["x", "in", [1]], ["x", "=", false], ["x", "a"], ["x"], ["a", "x", [[5]]], ["x", 1]]', []],
  ])('%s', (text, seen) => {
    expect(list(text)).toEqual(seen);
  });
});

test.each<[string, string[]]>([
  ['[[0, 0, {"xa": [[5]]}], 5]', ['f create', '1xa clear', 'f set']],
  ['null', ['f clear']],
  ['{"a": 1}', ['f none']],
  ['5', []],
  ['[]', []],
])('visits a value that is itself the value of a field: %s', (text, expected) => {
  const bytes = Buffer.from(text);
  const seen: string[] = [];
  const kind = text.startsWith('[') ? 'array' : text === 'null' ? 'null' : text === '5' ? 'number' : 'object';
  someValueCommand(bytes, { kind, start: 0, end: bytes.length }, 'f', makeVisitor(bytes, seen));
  expect(seen).toEqual(expected);
});

test('reports the field whose command has a name directly among its values', () => {
  const bytes = Buffer.from(
    '{"xa": [[0, 0, {"xb": [[1, 2, {"c": 1}], {"d": {"e": 1}}], "f": {"g": [[0, 0, {"h": 1}]]}}], {"i": 1}], "j": 1}',
  );
  const seen: Record<string, string | null> = {};
  const visitor: CommandVisitor<string> = {
    findField: ({ start, end }, _, within) => {
      const name = bytes.toString('utf8', start + 1, end - 1);
      seen[name] = within;
      return name.startsWith('x') ? name : null;
    },
    visit: () => false,
  };
  someCommand(bytes, { start: 0, end: bytes.length }, visitor);
  expect(seen).toEqual({
    xa: null,
    xb: 'xa',
    c: 'xb',
    d: null,
    e: null,
    f: 'xa',
    g: null,
    h: null,
    i: null,
    j: null,
  });
});

test('ends if the visitor returns true', () => {
  const bytes = Buffer.from('{"x": [[0], [1], [2]]}');
  let count = 0;
  const visitor = { findField: () => 'x', visit: () => ++count === 2 };
  expect(someCommand(bytes, { start: 0, end: bytes.length }, visitor)).toBe(true);
  expect(count).toBe(2);
});

/**
 * Lists the commands like the visitor, from decoded values. `levels`: number of levels from the surrounding list of
 * commands to the value; null: there is none. Members directly among the values of a command are at level 2, names of
 * pairs at level 3.
 */
function listDecoded(value: unknown, depth = 0, levels: number | null = null): string[] {
  const below = levels === null ? null : levels + 1;
  if (Array.isArray(value)) {
    const [name, inner] = value;
    const others = (elements: unknown[]) => elements.flatMap((element) => listDecoded(element, depth, below));
    if (typeof name !== 'string' || value.length === 1 || (typeof inner !== 'object' && inner !== false))
      return others(value);
    return [...listMember(name, inner, depth, below, 3), ...others(value.slice(2))];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => listMember(name, inner, depth + 1, below, 2));
}

/** `levels`: as in `listDecoded`. `valuesLevels`: the level of a name directly among values. */
function listMember(
  name: string,
  inner: unknown,
  depth: number,
  levels: number | null,
  valuesLevels: number,
): string[] {
  if (!name.startsWith('x')) return listDecoded(inner, depth, levels);
  const field = `${levels === null || levels === valuesLevels ? depth : INSIDE}${name}`;
  if (inner === null || inner === false) return [`${field} clear`];
  if (!Array.isArray(inner)) {
    return typeof inner === 'object' ? [`${field} none`, ...listDecoded(inner, depth, levels)] : [];
  }
  return inner.flatMap((element: unknown) => {
    const code = Array.isArray(element) ? element[0] : typeof element === 'number' ? 6 : null;
    const command = typeof code === 'number' ? (COMMANDS[code] ?? 'none') : 'none';
    return [`${field} ${command}`, ...listDecoded(element, depth, Array.isArray(element) ? 0 : NOT_COMMAND)];
  });
}

/** A level that no name directly among values has. */
const NOT_COMMAND = 100;

test('visits the same commands in any value as a search of the decoded value', () => {
  const name = fc.constantFrom('x', 'xa', 'a', 'b', '"', '\\');
  const leaf = fc.oneof(fc.integer({ min: -1, max: 8 }), fc.boolean(), fc.constant(null), name);
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (any, indent) => {
      expect(list(JSON.stringify(any, null, indent))).toEqual(listDecoded(any));
    }),
    { numRuns: countCases(2000) },
  );
});
