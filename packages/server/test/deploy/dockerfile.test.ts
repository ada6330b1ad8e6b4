/** The image, as far as it can be checked without a container engine. docs/deployment.md lists the manual checks. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
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
  const { engines } = JSON.parse(readText('packages/server/package.json'));
  const majors = [...text.matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => Number(major));
  expect(majors).toHaveLength(2);
  for (const major of majors) expect(`>=${major}`).toBe(engines.node);
});

test('copies existing files, and the package.json of every workspace before the install', () => {
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const { workspaces } = JSON.parse(readText('package.json'));
  expect(copied).toEqual(expect.arrayContaining(workspaces.map((path: string) => `${path}/package.json`)));
});

test('sets valid variables: reachable from outside, with a store in its volume', () => {
  const { http, store } = takeSettings(readImageVariables());
  expect([http.host, String(http.port)]).toEqual(['0.0.0.0', ...listArguments('EXPOSE')]);
  expect(store.url).toMatch(new RegExp(`^sqlite:${listArguments('VOLUME')[0]}/`));
});

test('starts the program from an existing file', () => {
  const [, target = '', command] = /ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)/.exec(image.join('\n')) ?? [];
  expect(existsSync(join(root, target)), target).toBe(true);
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
