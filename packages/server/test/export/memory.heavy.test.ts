/**
 * Tests that an export of a million records adds at most 32 MiB to the memory of a warm process. The proxy runs in a
 * process of its own, and the kernel reports its peak memory.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { startSandbox } from '@erp-proxy/sandbox';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { callServer, makeFolder, makeKey, startServer } from '../process/program.ts';
import { answerLikeOdoo, makeCall, printResult, startUpstream } from '../scripted-upstream.ts';
import { printPage, readPageCall } from './export-stage.ts';

const COUNT = 1_000_000;
const ADDED_MIB_MAX = 32;
const WARM_UP_CALLS = 1000;
const TYPES = JSON.stringify({
  id: { type: 'integer' },
  name: { type: 'char' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  write_date: { type: 'datetime' },
});

const printRecord = (id: number) =>
  `{"id": ${id}, "name": "Partner number ${id}, Brussels", "parent_id": [${id}, "Azure Interior"], "write_date": "2026-10-21 01:31:00"}`;

interface Taken {
  lines: number;
  bytes: number;
  isWhole: boolean;
}

/** Reads an export without storing it. */
function takeExport(url: string, key: string, body: object, headers: Record<string, string>): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/api/erp/export`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-proxy-api': key, ...headers },
    });
    const taken: Taken = { lines: 0, bytes: 0, isWhole: false };
    request.on('error', reject);
    request.on('response', (response) => {
      response.on('data', (piece: Buffer) => {
        taken.bytes += piece.length;
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) taken.lines++;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ ...taken, isWhole: response.complete }));
    });
    request.end(JSON.stringify(body));
  });
}

/** Memory of a process in MiB (proc(5)). */
function readMib(pid: number | undefined, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

/** Runs an export, and returns the maximum by which the memory of the server grew. */
async function measureExport(
  pid: number | undefined,
  run: () => Promise<Taken>,
): Promise<{ taken: Taken; addedMib: number }> {
  const before = readMib(pid, 'VmRSS');
  // Resets the peak to the memory in use now (proc(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const taken = await run();
  const addedMib = readMib(pid, 'VmHWM') - before;
  if (process.env['SHOW_FIGURES']) console.log(taken, `+${addedMib.toFixed(1)} MiB`);
  return { taken, addedMib };
}

test.runIf(process.platform === 'linux')('a million records in each format add at most 32 MiB', async () => {
  const upstream = closeAfterTest(
    await startUpstream((socket, { body }) => {
      if (body.includes('"fields_get"')) answerLikeOdoo(socket, printResult(TYPES));
      else if (body.includes('"search_read"'))
        answerLikeOdoo(socket, printPage(readPageCall(body), COUNT, printRecord));
      else answerLikeOdoo(socket, printResult('7'));
    }),
  );
  const server = await startServer([`--egress.allow=${upstream.url}`], { folder: makeFolder() });
  const key = await makeKey(server);
  const call = makeCall(upstream.url);
  for (let sent = 0; sent < WARM_UP_CALLS; sent++) await callServer(server, key, call);
  const body = {
    model_id: 'res.partner',
    fields: ['name', 'parent_id', 'write_date'],
    erp_instance: call['erp_instance'],
  };
  const runs: [format: string, headers: Record<string, string>][] = [
    ['ndjson', {}],
    ['ndjson', { prefer: 'values=normalized' }],
    ['csv', {}],
  ];
  await takeExport(server.url, key, { ...body, limit: 50_000 }, {});
  for (const [format, headers] of runs) {
    const run = () => takeExport(server.url, key, { ...body, format }, headers);
    const { taken, addedMib } = await measureExport(server.pid, run);
    expect(taken).toMatchObject({ lines: COUNT + (format === 'csv' ? 1 : 0), isWhole: true });
    expect(addedMib).toBeLessThan(ADDED_MIB_MAX);
  }
});

test.runIf(process.platform === 'linux')(
  'a million records of the sandbox are read by the index on ids, each once',
  async () => {
    const sandbox = closeAfterTest(await startSandbox({ version: 18, records: { 'res.partner': COUNT } }));
    const server = await startServer([`--egress.allow=${sandbox.url}`], { folder: makeFolder() });
    const key = await makeKey(server);
    const { url, db, users } = sandbox;
    const erp_instance = { url, db, user_id: users.admin.userId, api_key: users.admin.apiKey };
    const body = { model_id: 'res.partner', fields: ['name', 'email', 'country_id'], erp_instance };
    await takeExport(server.url, key, { ...body, limit: 100_000 }, {});
    const readBefore = sandbox.rowsRead;
    const { taken, addedMib } = await measureExport(server.pid, () => takeExport(server.url, key, body, {}));
    expect(taken.isWhole).toBe(true);
    expect(taken.lines).toBeGreaterThanOrEqual(COUNT);
    // Each row is read twice: by the search and by the read. With an offset, each page would examine all rows before
    // it.
    expect(sandbox.rowsRead - readBefore).toBeLessThan(2.1 * taken.lines);
    expect(addedMib).toBeLessThan(ADDED_MIB_MAX);
  },
);
