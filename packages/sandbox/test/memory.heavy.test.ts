/** Measures the memory that large tables and large files need in the process of the sandbox. */
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../src/index.ts';
import { executeKw } from './speak.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const mebibyte = 1024 * 1024;

function measureMemory(): number {
  // The second collection waits until the buffers that the first one found are freed.
  collect();
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

describe.each([
  [200, 18, '/jsonrpc', false],
  [70, 19, '/json/2/ir.attachment/read', false],
  [70, 19, '/jsonrpc', true],
] as const)(
  'an attachment of %i MB in %i over %s (persistent connection: %s)',
  (megabytes, version, path, keepAlive) => {
    test('streams, also to a client that reads slowly', async () => {
      const sandbox = await startSandbox({ version, keepAlive });
      const { admin } = sandbox.users;
      const size = megabytes * 1_000_000;
      const id = sandbox.addFile({ name: 'film.bin', content: size });
      const args = [sandbox.db, admin.userId, admin.apiKey, 'ir.attachment', 'read', [[id], ['datas']]];
      const rpc = { jsonrpc: '2.0', id: 1, params: { service: 'object', method: 'execute_kw', args } };
      const before = measureMemory();
      const response = await fetch(`${sandbox.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `bearer ${admin.apiKey}`,
        },
        body: JSON.stringify(path === '/jsonrpc' ? rpc : { ids: [id], fields: ['datas'] }),
      });
      let [received, most, chunks] = [0, 0, 0];
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        received += chunk.length;
        if (chunks++ % 500 === 0) most = Math.max(most, measureMemory() - before);
      }
      expect(received).toBe(Number(response.headers.get('content-length')));
      expect(received).toBeGreaterThan((size * 4) / 3);
      expect(most).toBeLessThan(32 * mebibyte);
      await sandbox.close();
    });
  },
);

test('an upload of 60 MB takes the memory of its file and little more', async () => {
  const sandbox = await startSandbox({ version: 18 });
  const { admin } = sandbox.users;
  const size = 60_000_000;
  const args = [
    sandbox.db,
    admin.userId,
    admin.apiKey,
    'ir.attachment',
    'create',
    [{ name: 'x', datas: '#' }],
  ];
  const call = JSON.stringify({ id: 1, params: { service: 'object', method: 'execute_kw', args } });
  const [head = '', tail = ''] = call.split('#');
  const piece = Buffer.alloc(30_000, 'x').toString('base64');
  let [most, pieces] = [0, 0];
  const before = measureMemory();
  const body = async function* () {
    yield head;
    for (let sent = 0; sent < size; sent += 30_000) {
      yield piece;
      if (pieces++ % 100 === 0) most = Math.max(most, measureMemory() - before);
    }
    yield tail;
  };
  const answer = await fetch(`${sandbox.url}/jsonrpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Readable.toWeb(Readable.from(body())) as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  const { result } = (await answer.json()) as { result: number };
  most = Math.max(most, measureMemory() - before);
  const [file] = (await executeKw(sandbox, 'ir.attachment', 'read', [[result], ['file_size']])) as object[];
  expect(file).toEqual({ id: result, file_size: size });
  expect(most).toBeLessThan(size + 32 * mebibyte);
  await sandbox.close();
});
