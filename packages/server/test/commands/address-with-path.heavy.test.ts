/** Tests the address of a proxy that a reverse proxy serves under a path. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { closeAfterTest } from '../close-after-test.ts';
import { makeFolder, startProgram } from '../process/program.ts';
import { startUpstream } from '../scripted-upstream.ts';

const KEY = ['--key', 'ep_test'];

test.each([
  ['call', ['call', 'call.json'], '/api/erp/execute'],
  ['types', ['types', '--models', 'res.partner', '--instance', 'prod'], '/api/erp/execute'],
  [
    'export',
    ['export', '--model', 'res.partner', '--fields', 'name', '--instance', 'prod', '--retries', '0'],
    '/api/erp/export',
  ],
])('%s calls the route under the path of the address', async (_, args, path) => {
  const upstream = closeAfterTest(
    await startUpstream((socket) => {
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    }),
  );
  for (const end of ['/odoo', '/odoo/', `/odoo${path}`, '/odoo/mcp', '/odoo/api/erp/execute']) {
    const folder = makeFolder();
    writeFileSync(join(folder, 'call.json'), '{}');
    const { stderr } = await startProgram([...args, '--url', `${upstream.url}${end}`, ...KEY], { folder })
      .ended;
    expect(upstream.requests.pop()?.head ?? stderr).toMatch(new RegExp(`^POST /odoo${path} `));
  }
});
