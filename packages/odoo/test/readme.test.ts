/** The example of the README prints what its comments say. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('../', import.meta.url));
const [, code = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(`${FOLDER}README.md`, 'utf8')) ?? [];

test('the example prints what its comments say', () => {
  const expected = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, printed]) => printed);
  expect(expected).toHaveLength(4);
  const args = ['--input-type=module-typescript', '--eval', code];
  const printed = execFileSync(process.execPath, args, { cwd: FOLDER, encoding: 'utf8' });
  expect(printed.trimEnd().split('\n')).toEqual(expected);
});

test('its table has the entry points of the package', () => {
  const { name, exports }: { name: string; exports: object } = JSON.parse(
    readFileSync(`${FOLDER}package.json`, 'utf8'),
  );
  const rows = readFileSync(`${FOLDER}README.md`, 'utf8').matchAll(/^\| `(@[^`]+)` \|/gm);
  expect(Array.from(rows, ([, entryPoint]) => entryPoint)).toEqual(
    Object.keys(exports).map((path) => path.replace('.', name)),
  );
});
