/**
 * Runs after `npm ci`: removes the C++ headers of the Node that npm installed. They are a third of it, and no dependency
 * compiles anything. Plain JavaScript, because the Node that runs npm may be old.
 */
import { rmSync } from 'node:fs';

for (const cpu of ['arm64', 'x64']) {
  const headers = new URL(`../node_modules/node-linux-${cpu}/include`, import.meta.url);
  rmSync(headers, { recursive: true, force: true });
}
