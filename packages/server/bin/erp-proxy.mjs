#!/usr/bin/env node
// The command's entry. Plain JavaScript of the oldest syntax that modules have, so that an old Node can read it and says
// what to do.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `erp-proxy needs Node 24 or later; this is ${process.version}. Install it from https://nodejs.org/en/download. In a checkout, "npx erp-proxy" and the npm scripts use the Node 24 that "npm ci" installed.\n`,
  );
  process.exit(1);
}
import('node:module').then(({ enableCompileCache }) => {
  enableCompileCache();
  return import('../src/main.ts');
});
