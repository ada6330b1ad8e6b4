/** Tests the image, as far as possible without a container engine. docs/deployment.md lists the manual checks. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, matchesGlob, relative } from 'node:path';
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

// The test makes a tarball.
test('gets what the tarball is made from, which is enough for it', async () => {
  const context = mkdtempSync(join(tmpdir(), 'erp-proxy-context-'));
  try {
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
    const { status, stderr } = spawnSync(process.execPath, ['scripts/pack.ts'], {
      cwd: context,
      encoding: 'utf8',
      env: { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) },
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    const [, tarball = ''] = /\/tmp\/(out\/\S+\.tgz)/.exec(text) ?? [];
    expect(globSync(tarball, { cwd: context })).toHaveLength(1);
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
});

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
