/**
 * Tests which code a start loads: code that the first request would have to wait for, and no code that the server never
 * uses.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, startServer } from './program.ts';

/** A module that, at the end of the process, prints the files of code that were loaded. */
const REPORT = `
  import { createRequire } from 'node:module';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.once('exit', () => {
    const loaded = [...process.moduleLoadList, ...Object.keys(createRequire(import.meta.url).cache)];
    const has = (name) => loaded.some((path) => path.includes(name));
    console.error('LOADED ' + JSON.stringify({ fastify: has('/fastify/'), fetch: has('deps/undici'), ajv: has('/ajv/'), koa: has('/koa/') }));
  });`;

test("Node's fetch, which the first message of an agent would load, and neither Fastify's compilers of schemas nor the authorization server", async () => {
  const folder = makeFolder();
  const report = join(folder, 'report.mjs');
  writeFileSync(report, REPORT);
  const server = await startServer([], { folder, env: { NODE_OPTIONS: `--import=${report}` } });
  server.kill('SIGTERM');
  const { status, stderr } = await server.ended;
  expect(status).toBe(0);
  expect(stderr).toContain('LOADED {"fastify":true,"fetch":true,"ajv":false,"koa":false}');
});
