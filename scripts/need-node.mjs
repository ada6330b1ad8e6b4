/**
 * Says in one sentence that Node is too old. Plain JavaScript, loaded with `node --import` ahead of a script, because
 * an old Node cannot read TypeScript and would fail with an obscure error.
 */
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `The scripts of this repository need Node 24 or later; this is ${process.version}. On Linux "npm ci" installs one: start them with "npm run <script>" (and without --omit=optional). Elsewhere install Node 24.\n`,
  );
  process.exit(1);
}
