/**
 * On the path of a call, no function is written as the right side of an assignment to a property: V8 would create it in
 * its old space, with all that it refers to (docs/decisions/0034-garbage-of-a-call.md).
 */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { findFiles, readText } from './repository-files.ts';

const CALL_PATH =
  /^packages\/server\/src\/(?:egress|execute|http\/connection|idempotency|json|limits|odoo|redis|sharing|streams)\//;
/** Once per process, not per call. */
const NOT_OF_A_CALL = new Set(['packages/server/src/execute/request/admission.ts']);
const ASSIGNED_FUNCTION = /\.#?\w+ (?:\?\?)?= (?:async )?(?:function\b|\w+ =>|\([^()]*\)(?:: [^=]+)? =>)/g;

test('no function is assigned to a property where it is written', () => {
  const found = findFiles('packages/server/src/**/*.ts')
    .filter(
      (file) => CALL_PATH.test(file) && !/\.(?:test|fixture)\.ts$/.test(file) && !NOT_OF_A_CALL.has(file),
    )
    .flatMap((file) => [...readText(file).matchAll(ASSIGNED_FUNCTION)].map(([text]) => `${file}: ${text}`));
  expect(found).toEqual([]);
});

/** If this fails with a later V8, the rule and its decision can go. */
test('V8 creates such a function in the old space, and a function in a variable in the young one', () => {
  const script = `
    const assign = (object) => { object.run = () => object; return object.run; };
    const declare = (object) => { const run = () => object; object.run = run; return object.run; };
    process.stdout.write(JSON.stringify([assign, declare].map((make) => %InYoungGeneration(make({ run: null })))));
  `;
  const { stdout } = spawnSync(process.execPath, ['--allow-natives-syntax', '--eval', script], {
    encoding: 'utf8',
  });
  expect(stdout).toBe('[false,true]');
});
