#!/usr/bin/env node
// The command's entry. Plain JavaScript of the oldest syntax that modules have, so that an old Node can read it and
// says what to do.
if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(
    `erp-proxy needs Node 24 or later; this is ${process.version}. Install it from https://nodejs.org/en/download. In a checkout, "npx erp-proxy" and the npm scripts use the Node 24 that "npm ci" installed.\n`,
  );
  process.exit(1);
}
const names = ['node:fs', 'node:module', 'node:os', 'node:path'];
Promise.all(names.map((name) => import(name))).then(([fs, { enableCompileCache }, { tmpdir }, { join }]) => {
  const { env } = process;
  // Node's own folder for its compile cache is in the folder for temporary files, under a name that all users of the
  // machine share. Whoever makes it first could put code into it that the process of another user would run. So each
  // user has a folder of their own. On Windows, each user has a folder for temporary files. Threads use it, too.
  if (env.NODE_COMPILE_CACHE === undefined) {
    const isShared = typeof process.getuid === 'function';
    const folder = join(
      tmpdir(),
      isShared ? `erp-proxy-compile-cache-${process.getuid()}` : 'node-compile-cache',
    );
    if (!isShared || isOwn(folder, fs)) env.NODE_COMPILE_CACHE = folder;
  }
  if (env.NODE_COMPILE_CACHE !== undefined) enableCompileCache();
  return import('../src/main.ts');
});

// Makes the folder, and checks that it belongs to this user alone. A link does not count as a folder.
function isOwn(folder, { lstatSync, mkdirSync }) {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code !== 'EEXIST') return false;
  }
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  return stats.isDirectory() && stats.uid === process.getuid() && (stats.mode & 0o022) === 0;
}
