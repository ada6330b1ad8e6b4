/** The WebAssembly of the server is what its source compiles to. Needs the registry of npm, or its cache. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CODE_FILE, compileAssembly } from '../../../../scripts/compile-assembly.ts';

test('compiling the source gives the code of the repository', async () => {
  expect(await compileAssembly()).toBe(readFileSync(CODE_FILE, 'utf8'));
});
