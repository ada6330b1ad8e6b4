/**
 * Tests that the server loads the SDK at its start, so that no request waits for it, and that commands do not load it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startStage } from '../large-bodies/stage.ts';
import { BLOCKED_MS_MAX, takeMedian } from '../measure-blocking.ts';
import { makeCall } from '../scripted-upstream.ts';

const INFO = { name: 'test', version: '1' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};
const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO };
const CALL = { name: 'get_context', arguments: {} };
const MESSAGES: readonly [revision: string | null, method: string, params: object][] = [
  [null, 'initialize', INITIALIZE],
  ['2025-11-25', 'tools/list', {}],
  ['2025-11-25', 'tools/call', CALL],
  ['2026-07-28', 'server/discover', { _meta: META }],
  ['2026-07-28', 'tools/list', { _meta: META }],
  ['2026-07-28', 'tools/call', { ...CALL, _meta: META }],
];

test.each([MESSAGES, MESSAGES.toReversed()])(
  'the first messages of agents keep no other caller waiting, order %#',
  async (...messages) => {
    const blockedMs = await takeMedian(async () => {
      const stage = await startStage();
      const key = await stage.makeKey();
      await stage.post({ key, body: Buffer.from(JSON.stringify(makeCall(stage.odoo))) });
      await stage.readLongestGap();
      for (const [revision, method, params] of messages) {
        const headers = {
          accept: 'application/json, text/event-stream',
          ...(revision === null ? {} : { 'mcp-protocol-version': revision }),
          ...('_meta' in params ? { 'mcp-method': method } : {}),
          ...('_meta' in params && 'name' in params ? { 'mcp-name': CALL.name } : {}),
        };
        const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
        const answer = await stage.post({ path: '/mcp', key, headers, body });
        expect(answer.body.toString()).toContain('"result"');
      }
      return await stage.readLongestGap();
    });
    expect(blockedMs).toBeLessThan(BLOCKED_MS_MAX);
  },
);

test('the commands do not load the SDK', async () => {
  const program = `
    import { registerHooks } from 'node:module';
    const seen = [];
    registerHooks({
      resolve(specifier, context, next) {
        if (specifier.includes('modelcontextprotocol')) seen.push(specifier);
        return next(specifier, context);
      },
    });
    await import('./cli/run.ts');
    const before = seen.length;
    await import('./app/app.ts');
    console.log(before, seen.length > before);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('../../src', import.meta.url)),
  });
  expect(stdout).toBe('0 true\n');
});
