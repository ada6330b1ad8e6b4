/** A start loads no code that the server does without: a sixth of its time. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder, startServer } from './program.ts';

/** Prints what the process has loaded by its end. */
const REPORT = `
  import { createRequire } from 'node:module';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.once('exit', () => {
    const loaded = [...process.moduleLoadList, ...Object.keys(createRequire(import.meta.url).cache)];
    const has = (name) => loaded.some((path) => path.includes(name));
    console.error('LOADED ' + JSON.stringify({ fastify: has('/fastify/'), fetch: has('deps/undici'), ajv: has('/ajv/') }));
  });`;

test("neither Node's fetch nor Fastify's compilers of schemas", async () => {
  const folder = makeFolder();
  const report = join(folder, 'report.mjs');
  writeFileSync(report, REPORT);
  const server = await startServer([], { folder, env: { NODE_OPTIONS: `--import=${report}` } });
  server.kill('SIGTERM');
  const { status, stderr } = await server.ended;
  expect(status).toBe(0);
  expect(stderr).toContain('LOADED {"fastify":true,"fetch":false,"ajv":false}');
});
