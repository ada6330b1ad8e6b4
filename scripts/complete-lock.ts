/**
 * Completes package-lock.json after npm has written it:
 *
 * - Adds the binaries of other platforms if npm omitted them because its registry lacks them: `npm ci` refuses the file
 *   without their entries. npm does not install them here, so their hashes are not needed.
 * - Removes the Node versions that packages demand. npm would compare them with the Node that runs npm, and warn. The
 *   packages run on the Node 24 that npm installs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface Entry {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  engines?: object;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Entry> };

const PLATFORM =
  /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64)/;

for (const [owner, { dev, optionalDependencies = {} }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const [, os, cpu] = PLATFORM.exec(name) ?? [];
    const key = `node_modules/${name}`;
    if (owner === '' || os === undefined || cpu === undefined || key in lock.packages) continue;
    const libc = name.includes('musl') ? 'musl' : name.includes('gnu') ? 'glibc' : undefined;
    lock.packages[key] = {
      version: version.replace(/^[~^]/, ''),
      cpu: [cpu],
      ...(dev ? { dev } : {}),
      ...(libc ? { libc: [libc] } : {}),
      optional: true,
      os: [os],
    };
    process.stdout.write(`added ${name} ${version}\n`);
  }
}

for (const entry of Object.values(lock.packages)) delete entry.engines;

const sorted = Object.entries(lock.packages).sort(([left], [right]) => (left < right ? -1 : 1));
writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
