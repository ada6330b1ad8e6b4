/** The image, as far as it can be judged without a container engine. docs/deployment.md says what was tried by hand. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { type Proxy as ErpProxy, send, startProxy } from '../harness.ts';
import { readImageVariables, readText, root, takeSettings } from './deploy-files.ts';

const text = readText('deploy/Dockerfile');
/** The instructions of the image itself, continued lines joined. */
const image = text
  .slice(text.lastIndexOf('\nFROM '))
  .replaceAll(/ *\\\n */g, ' ')
  .split('\n');

const listArguments = (instruction: string) =>
  image
    .filter((line) => line.startsWith(`${instruction} `))
    .map((line) => line.slice(instruction.length + 1));

test('has no fault that a linter of Dockerfiles finds', () => {
  expect(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([]);
});

test('runs as a user who is not root, by number', () => {
  expect(listArguments('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test('takes the Node that the program needs', () => {
  const { engines } = JSON.parse(readText('packages/server/package.json'));
  const majors = [...text.matchAll(/^FROM node:(\d+)-/gm)].map(([, major]) => Number(major));
  expect(majors).toHaveLength(2);
  for (const major of majors) expect(`>=${major}`).toBe(engines.node);
});

test('copies what there is, and the package.json of every workspace before it installs', () => {
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const { workspaces } = JSON.parse(readText('package.json'));
  expect(copied).toEqual(expect.arrayContaining(workspaces.map((path: string) => `${path}/package.json`)));
});

test('sets variables that the program takes, to be reached from outside, on a store in its volume', () => {
  const { http, store } = takeSettings(readImageVariables());
  expect([http.host, String(http.port)]).toEqual(['0.0.0.0', ...listArguments('EXPOSE')]);
  expect(store.url).toMatch(new RegExp(`^sqlite:${listArguments('VOLUME')[0]}/`));
});

test('starts the program itself, from a file that is there', () => {
  const [, target = '', command] = /ln -s \/app\/(\S+) \/usr\/local\/bin\/(\S+)/.exec(image.join('\n')) ?? [];
  expect(existsSync(join(root, target)), target).toBe(true);
  expect(listArguments('ENTRYPOINT')).toEqual([JSON.stringify([command])]);
  expect(listArguments('CMD')).toEqual(['["serve"]']);
});

test('asks for its health at a route that answers', async () => {
  const [, port, path] =
    /fetch\('http:\/\/127\.0\.0\.1:(\d+)(\/\w+)'\)/.exec(listArguments('HEALTHCHECK')[0] ?? '') ?? [];
  expect([port]).toEqual(listArguments('EXPOSE'));
  const proxy: ErpProxy = await startProxy();
  expect((await send(`${proxy.url}${path}`)).status).toBe(200);
  await proxy.close();
});
