/** Tests the image, as far as possible without a container engine. docs/deployment.md lists the manual checks. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, matchesGlob, relative } from 'node:path';
import { promisify } from 'node:util';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import { readImageVariables, readText, root, takeSettings } from './deploy-files.ts';

const text = readText('deploy/Dockerfile');
/** The instructions of the final image, with continued lines joined. */
const image = text
  .slice(text.lastIndexOf('\nFROM '))
  .replaceAll(/ *\\\n */g, ' ')
  .split('\n');

const listArguments = (instruction: string) =>
  image
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));

test('has no findings of a Dockerfile linter', () => {
  expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
});

test('runs as a numeric user other than root', () => {
  expect(listArguments('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test('has the Node version that the program needs', () => {
  const [, needed] = /< (\d+)\)/.exec(readText('packages/server/bin/erp-proxy.mjs')) ?? [];
  const majors = [...text.matchAll(/^FROM (?:--platform=\S+ )?node:(\d+)-/gm)].map(([, major]) => major);
  expect(majors).toEqual([needed, needed, needed]);
});

// The test makes all tarballs twice.
test('gets what the tarballs are made from, which alone decides about their bytes', async () => {
  const contexts = ['one', 'another'].map((name) =>
    mkdtempSync(join(tmpdir(), `erp-proxy-context-${name}-`)),
  );
  try {
    const builds = await Promise.all(contexts.map(pack));
    const [, tarball = ''] = /\/tmp\/out\/(\S+\.tgz)/.exec(text) ?? [];
    expect(Object.keys(builds[0]!).filter((name) => matchesGlob(name, tarball))).toHaveLength(1);
    expect(builds[1]).toEqual(builds[0]);
  } finally {
    for (const context of contexts) rmSync(context, { recursive: true, force: true });
  }
});

/** Packs a copy of what the image is built from. Returns the hashes of the files by their names. */
async function pack(context: string): Promise<Record<string, string>> {
  const rules = readText('.dockerignore').split('\n');
  const taken = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1));
  const left = rules.filter((rule) => rule.includes('/'));
  for (const path of taken) {
    cpSync(join(root, path), join(context, path), {
      recursive: true,
      filter: (source) => !left.some((rule) => matchesGlob(relative(root, source), rule)),
    });
  }
  symlinkSync(join(root, 'node_modules'), join(context, 'node_modules'));
  const { stderr } = await promisify(execFile)(process.execPath, ['scripts/pack.ts'], {
    cwd: context,
    env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
  });
  expect(stderr).toBe('');
  const out = join(context, 'out');
  return Object.fromEntries(
    readdirSync(out)
      .sort()
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex'),
      ]),
  );
}

test('sets valid variables: reachable from outside, with a store in its volume', () => {
  const { http, store } = takeSettings(readImageVariables());
  expect([http.host, String(http.port)]).toEqual(['0.0.0.0', ...listArguments('EXPOSE')]);
  expect(store.url).toMatch(new RegExp(`^sqlite:${listArguments('VOLUME')[0]}/`));
});

test('starts the program from an existing file', () => {
  const [, target = '', command] = /ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)/.exec(image.join('\n')) ?? [];
  const [, file = ''] = /^node_modules\/erp-proxy\/(.+)$/.exec(target) ?? [];
  expect(Object.values(JSON.parse(readText('packages/server/package.json')).bin)).toEqual([file]);
  expect(listArguments('ENTRYPOINT')).toEqual([JSON.stringify([command])]);
  expect(listArguments('CMD')).toEqual(['["serve"]']);
});

test('checks its health at an existing route', async () => {
  const [, port, path] =
    /fetch\('http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'\)/.exec(listArguments('HEALTHCHECK')[0] ?? '') ?? [];
  expect([port]).toEqual(listArguments('EXPOSE'));
  const proxy: ErpProxy = await startProxy();
  expect((await send(`${proxy.url}${path}`)).status).toBe(200);
  await proxy.close();
});
