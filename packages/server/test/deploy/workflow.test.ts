/**
 * Tests the workflows for a public host: one runs the README's commands, and all have the least rights and only actions
 * that cannot change.
 */
import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readText, root } from '../architecture/repository-files.ts';

const text = readText('.github/workflows/check.yml');
const workflow = parse(text) as {
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
};
interface Job {
  permissions?: unknown;
  strategy: { matrix: { runner: string[] } };
  steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}
const jobs = Object.values(workflow.jobs);
const steps = jobs.flatMap((job) => job.steps);

test('it runs the two commands of the README, in their order', () => {
  const [, commands = ''] = /`(npm ci && npm test)`/.exec(readText('README.md')) ?? [];
  expect(steps.flatMap(({ run }) => run ?? []).join(' && ')).toBe(commands);
});

test('it runs on both architectures', () => {
  expect(jobs.map(({ strategy }) => strategy.matrix.runner)).toEqual([['ubuntu-24.04', 'ubuntu-24.04-arm']]);
});

test('it may only read, and leaves no credentials behind', () => {
  expect(workflow.permissions).toEqual({ contents: 'read' });
  expect(jobs.map(({ permissions }) => permissions)).toEqual([undefined]);
  expect(text).not.toMatch(/secrets\.|pull_request_target|id-token/);
  for (const { uses, with: options } of steps) {
    if (uses?.startsWith('actions/checkout@')) expect(options).toEqual({ 'persist-credentials': false });
  }
});

test.each(globSync('.github/workflows/*.yml', { cwd: root }))(
  '%s may only read, and each of its actions is pinned to a commit',
  (path) => {
    const { permissions, jobs } = parse(readText(path)) as typeof workflow;
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job.permissions).toBeUndefined();
    const actions = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  },
);

test('updates are proposed for packages, actions and the image, in folders that have their files', () => {
  const { updates } = parse(readText('.github/dependabot.yml')) as {
    updates: { 'package-ecosystem': string; directory: string }[];
  };
  const read: Record<string, string> = {
    npm: 'package-lock.json',
    'github-actions': '.github/workflows/*.yml',
    docker: 'Dockerfile',
  };
  expect(updates.map((update) => update['package-ecosystem'])).toEqual(Object.keys(read));
  for (const { 'package-ecosystem': ecosystem, directory } of updates) {
    expect(globSync(`.${directory}/${read[ecosystem]}`, { cwd: root }), ecosystem).not.toEqual([]);
  }
});
