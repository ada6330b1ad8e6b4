/**
 * Compiles packages/server/assembly to WebAssembly. The compiler is installed for this alone, because it would add
 * 102 MB to the checkout. Its version is fixed, so that the same source gives the same bytes.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MEMORY_PAGES } from '../packages/server/src/odoo/values/conversion-memory.ts';

const OWN_FOLDER = fileURLToPath(new URL('./assembly/', import.meta.url));
const SOURCE_FOLDER = fileURLToPath(new URL('../packages/server/assembly', import.meta.url));
const SOURCE = 'known-members.ts';
const OPTIONS = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];

/** The file with the compiled code. */
export const CODE_FILE = fileURLToPath(
  new URL('../packages/server/src/odoo/values/known-members-code.ts', import.meta.url),
);

/** Returns the text of the file with the code. Needs the registry of npm, or its cache. */
export async function compileAssembly(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-assembly-'));
  try {
    for (const name of ['package.json', 'package-lock.json'])
      cpSync(join(OWN_FOLDER, name), join(folder, name));
    const run = promisify(execFile);
    await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit'], { cwd: folder });
    const compiler = join(folder, 'node_modules/assemblyscript/bin/asc.js');
    const output = join(folder, 'known-members.wasm');
    const memory = ['--initialMemory', String(MEMORY_PAGES), '--maximumMemory', String(MEMORY_PAGES)];
    await run(process.execPath, [compiler, SOURCE, ...OPTIONS, ...memory, '--outFile', output], {
      cwd: SOURCE_FOLDER,
    });
    return printCode(readFileSync(output));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A digest of the source and of how it is compiled, by which stale code is noticed without the compiler. */
export function digestAssembly(): string {
  const digest = createHash('sha256').update(readFileSync(join(SOURCE_FOLDER, SOURCE)));
  digest.update(readFileSync(join(OWN_FOLDER, 'package-lock.json')));
  return digest.update([...OPTIONS, MEMORY_PAGES].join(' ')).digest('hex');
}

function printCode(code: Uint8Array): string {
  return `/**
 * Compiled from packages/server/assembly/${SOURCE} by \`npm run assembly\`, in Base64.
 * Digest: ${digestAssembly()}
 */
export const KNOWN_MEMBERS_CODE =
  '${Buffer.from(code).toString('base64')}';
`;
}
