/**
 * Objects of a call must not reach V8's old space, because they stay there with all that they refer to. So on the path
 * of a call, no function is written as the right side of an assignment to a property
 * (docs/decisions/0034-garbage-of-a-call.md), no set changes with each call (0050), no object literal has an accessor,
 * and V8 does not choose the space by the fate of earlier objects (0051).
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const CALL_PATH =
  /^packages\/server\/src\/(?:approvals|data|egress|execute|http|idempotency|json|keys|limits|mcp|odoo|policy|redis|sharing|streams|tokens|traces)\//;
/** Once per process, not per call. */
const NOT_OF_A_CALL = new Set(['packages/server/src/execute/request/admission.ts']);
const ACCESSOR = /^( *)(.*?)\b[gs]et (?:#?[\w$]+|'[^']*'|\[[^\]]+\])\(\)? ?.*\{/;
/** The line that opens a class; its bracket alone if the head of the class takes several lines. */
const OPENS_CLASS = /^\s*(?:export )?(?:abstract )?class |^\{$/;
const ASSIGNED_FUNCTION = /\.#?\w+ (?:\?\?)?= (?:async )?(?:function\b|\w+ =>|\([^()]*\)(?:: [^=]+)? =>)/g;

test('no function is assigned to a property where it is written', () => {
  const found = listCallPath().flatMap((file) =>
    [...readText(file).matchAll(ASSIGNED_FUNCTION)].map(([text]) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});

test('no object literal has an accessor', () => {
  const found = listCallPath().flatMap((file) =>
    findAccessorsOfLiterals(readText(file)).map((line) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});

test.each([
  ['export const make = (it) => ({\n  get left() {\n    return it;\n  },\n});', 1],
  ['function make() {\n  return {\n    run() {},\n\n    set [NAME](value) {\n    },\n  };\n}', 1],
  ["submit({ get 'x-y'() { return 1; } });", 1],
  ['export class A<B> implements C {\n  a = 1;\n\n  get #left(): number {\n  }\n}', 0],
  ['class A\n  extends B\n{\n  get left() {\n  }\n}', 0],
  ['  // A comment may say get left() {\n  const it = map.get(left) ?? {\n  };', 0],
])('accessors of literals are found: %j', (text, count) => {
  expect(findAccessorsOfLiterals(text)).toHaveLength(count);
});

function listCallPath(): string[] {
  return findFiles('packages/server/src/**/*.ts').filter(
    (file) => CALL_PATH.test(file) && !/\.(?:test|fixture)\.ts$/.test(file) && !NOT_OF_A_CALL.has(file),
  );
}

/** The lines of accessors that are not members of a class. The formatter indents what a bracket encloses. */
function findAccessorsOfLiterals(text: string): string[] {
  const lines = text.split('\n');
  return lines.filter((line, at) => {
    const match = ACCESSOR.exec(line);
    if (match === null || /^\s*(?:\/\/|\*|\/\*)/.test(line)) return false;
    const [, indent = '', before = ''] = match;
    if (before !== '') return /[{,] $/.test(before);
    const opening = lines.slice(0, at).findLast((above) => above !== '' && readIndent(above) < indent.length);
    return !OPENS_CLASS.test(opening ?? '');
  });
}

function readIndent(line: string): number {
  return line.length - line.trimStart().length;
}

/** If the first half fails with a later V8, `IndexedSet` and its decision (0050) can go. */
test('V8 keeps elements that a Set had, and none of an IndexedSet', () => {
  const useSet = (type: string) => `
    const { IndexedSet } = await import(${JSON.stringify(locate('streams/indexed-set.ts'))});
    const set = new ${type}();
    const present = [];
    const use = (content) => {
      const element = { index: -1, content };
      set.add(element);
      present.push(element);
      if (present.length > 16) set.delete(present.shift());
    };`;
  expect(countLeftBytes(useSet('Set'))).toBeGreaterThan(3_000_000);
  expect(countLeftBytes(useSet('IndexedSet'))).toBeLessThan(1_000_000);
});

/** If the first half fails with a later V8, the rule about accessors can go. */
test('V8 keeps what an accessor of an object literal refers to, and nothing of a method', () => {
  const useObject = (literal: string) => `
    const make = (content) => (${literal});
    const present = [];
    const use = (content) => {
      present.push(make(content));
      if (present.length > 16) present.shift();
    };`;
  expect(countLeftBytes(useObject('{ get content() { return content; } }'))).toBeGreaterThan(3_000_000);
  expect(countLeftBytes(useObject('{ content() { return content; } }'))).toBeLessThan(1_000_000);
});

/** A collection of the old space, which V8 may begin at any time, would remove what is measured. */
const NO_OTHER_COLLECTION = [
  '--initial-old-space-size=512',
  '--no-incremental-marking',
  '--no-memory-reducer',
];

/** Bytes that are left in the old space after `use` was called with 20,000 contents of 900 bytes. */
function countLeftBytes(declareUse: string): number {
  const script = `
    import { getHeapSpaceStatistics } from 'node:v8';
    ${declareUse}
    const readOldBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space').space_used_size;
    gc();
    const before = readOldBytes();
    for (let index = 0; index < 20_000; index++) {
      use(new Array(100).fill(index + 0.5));
      if (index % 200 === 0) gc({ type: 'minor' });
    }
    process.stdout.write(String(readOldBytes() - before));
  `;
  return Number(run(script, ['--expose-gc', ...NO_OTHER_COLLECTION, '--input-type=module']));
}

/** If this fails with a later V8, the rule and its decision can go. */
test('V8 creates such a function in the old space, and a function in a variable in the young one', () => {
  const script = `
    const assign = (object) => { object.run = () => object; return object.run; };
    const declare = (object) => { const run = () => object; object.run = run; return object.run; };
    process.stdout.write(JSON.stringify([assign, declare].map((make) => %InYoungGeneration(make({ run: null })))));
  `;
  expect(run(script, ['--allow-natives-syntax'])).toBe('[false,true]');
});

/** If the first half fails with a later V8, its flag and the decision (0051) can go. */
test('V8 creates the lists of calls in its old space once most of them have survived, unless a flag is set', () => {
  const script = `
    const begin = (index) => { const list = []; list.push(index); return { list }; };
    const running = [];
    const load = () => { for (let index = 0; index < 100_000; index++) running.push(begin(index)); };
    %NeverOptimizeFunction(load);
    for (let round = 0; round < 5; round++) load();
    %DeoptimizeFunction(begin);
    %PrepareFunctionForOptimization(begin);
    begin(0);
    %OptimizeFunctionOnNextCall(begin);
    load();
    process.stdout.write(%InYoungGeneration(running.at(-1).list) ? 'young' : 'old');
  `;
  const flagged = `
    import { setV8Flags } from ${JSON.stringify(locate('cli/v8-flags.ts'))};
    setV8Flags();
    ${script}
  `;
  // With one thread, V8 decides before it compiles.
  const flags = ['--allow-natives-syntax', '--single-threaded', '--input-type=module'];
  expect(run(script, flags)).toBe('old');
  expect(run(flagged, flags)).toBe('young');
});

function locate(file: string): string {
  return new URL(`../../src/${file}`, import.meta.url).href;
}

function run(script: string, flags: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [...flags, '--eval', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout;
}
