/** The memory that large tables and large files take in the process of the sandbox. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { startSandbox } from '../src/index.ts';
import { executeKw } from './speak.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const mebibyte = 1024 * 1024;

function measureMemory(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test('a million records take no memory, also when they were read', async () => {
  const before = measureMemory();
  const sandbox = await startSandbox({ records: { 'res.partner': 1_000_000 } });
  for (let after = 0; after < 200_000; after += 1000)
    await executeKw(sandbox, 'res.partner', 'search_read', [[['id', '>', after]], ['name']], {
      limit: 1000,
      order: 'id',
    });
  expect(measureMemory() - before).toBeLessThan(32 * mebibyte);
  await sandbox.close();
});
