#!/usr/bin/env node
// The command's entry. Plain JavaScript, so that a Node that cannot run the sources says so in one sentence.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `erp-proxy needs Node 24 or later; this is ${process.version}. In a checkout, "npx erp-proxy" and the npm scripts use the Node 24 that "npm ci" installed.\n`,
  );
  process.exit(1);
}
const { enableCompileCache } = await import('node:module');
enableCompileCache();
await import('../src/main.ts');
