/** Bounds the size of the client in a web page. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BYTES_MAX = 7800;

test(`the minified client has less than ${BYTES_MAX} bytes after gzip, and imports nothing`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-client-'));
  try {
    const args = ['packages/client/src/index.ts', '--minify', '--format', 'esm', '--dir', folder];
    const bundler = spawnSync(join(ROOT, 'node_modules/.bin/rolldown'), args, {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect(bundler.stderr).toBe('');
    const code = readFileSync(join(folder, 'index.js'));
    expect(code.toString()).not.toMatch(/\bimport\b|\brequire\(/);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(BYTES_MAX);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
