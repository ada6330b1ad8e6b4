/** Tests the script that releases a version, in a dry run on copies of the files that it reads. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readText, root } from './deploy-files.ts';

const FILES = [
  'scripts/release.ts',
  'scripts/pack/repository.ts',
  'scripts/pack/root.ts',
  'scripts/pack/server-json.ts',
  'package-lock.json',
  'package.json',
  'CHANGELOG.md',
  'deploy/compose.yaml',
  'deploy/helm/erp-proxy/Chart.yaml',
  'packages/python/build_backend.py',
  ...globSync('packages/*/package.json', { cwd: root }),
];
const { version } = JSON.parse(readText('packages/server/package.json'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'erp-proxy-release-'));
  for (const file of FILES) cpSync(join(root, file), join(folder, file));
  edit('CHANGELOG.md', (text) =>
    text.replace('## Unreleased', `## Unreleased\n\n## ${version} (2026-11-30)`),
  );
  git('init', '--quiet');
  git('remote', 'add', 'origin', 'https://git.example.com/team/erp-proxy.git');
  commit();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
}

function git(...args: string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'A version');
}

interface Released {
  status: number | null;
  commands: string[];
  problems: string[];
}

function release(...args: string[]): Released {
  return releaseWith('', args);
}

/** `programs`: a folder whose programs come before those of the machine. */
function releaseWith(programs: string, args: readonly string[]): Released {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.ts', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}` },
  });
  return { status, commands: listLines(stdout), problems: listLines(stderr) };
}

function listLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

test('a dry run prints each command: packages with provenance, an image for two architectures, the chart', () => {
  const { status, commands, problems } = release(
    '--dry-run',
    '--image=a.example/b',
    '--charts=oci://a.example',
  );
  expect(problems).toEqual([]);
  expect(status).toBe(0);
  const text = commands.join('\n');
  expect(text).toContain(`npm publish ./out/erp-proxy-${version}.tgz --provenance --access public`);
  expect(text).toMatch(/docker buildx build --platform linux\/amd64,linux\/arm64 .*--tag a\.example\/b:/);
  expect(text).toMatch(/helm push out\/chart\/erp-proxy-[\d.]+\.tgz oci:\/\/a\.example/);
  const [, chart = ''] = /helm package (\S+)/.exec(text) ?? [];
  const [, dockerfile = ''] = /--file (\S+)/.exec(text) ?? [];
  for (const path of [chart, dockerfile]) expect(existsSync(join(root, path)), path).toBe(true);
});

test('a release signs the image by the digest that the builder reports, and the chart, before npm publishes', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const programs = mkdtempSync(join(tmpdir(), 'erp-proxy-programs-'));
  const log = join(programs, 'log');
  for (const name of ['npm', 'helm', 'cosign', 'docker']) {
    const image = `mkdir -p out && echo '{"containerimage.digest":"${digest}"}' > out/image.json`;
    const lines = ['#!/bin/sh', `echo ${name} "$@" >> '${log}'`, ...(name === 'docker' ? [image] : [])];
    writeFileSync(join(programs, name), `${lines.join('\n')}\n`, { mode: 0o755 });
  }
  git('init', '--quiet', '--bare', join(programs, 'pushed'));
  git('remote', 'set-url', '--push', 'origin', join(programs, 'pushed'));
  const { status, problems } = releaseWith(programs, [
    '--image=a.example/b',
    '--charts=oci://a.example/charts',
  ]);
  const ran = listLines(readFileSync(log, 'utf8'));
  rmSync(programs, { recursive: true });
  expect(status, problems.join('\n')).toBe(0);
  const chart = /^version: (\S+)$/m.exec(readText('deploy/helm/erp-proxy/Chart.yaml'))?.[1];
  expect(ran.filter((line) => /^(cosign|helm push|docker|npm publish)/.test(line))).toEqual([
    expect.stringMatching(/^docker buildx build .*--metadata-file out\/image\.json --push \.$/),
    `cosign sign --yes --recursive a.example/b@${digest}`,
    `cosign attest --yes --type cyclonedx --predicate out/erp-proxy-${version}.cdx.json a.example/b@${digest}`,
    `helm push out/chart/erp-proxy-${chart}.tgz oci://a.example/charts`,
    `cosign sign --yes a.example/charts/erp-proxy:${chart}`,
    ...['erp-proxy-client', 'erp-proxy'].map((name) => expect.stringContaining(`npm publish ./out/${name}-`)),
  ]);
});

test('a dry run publishes what npm run pack writes', () => {
  const { commands } = release('--dry-run');
  const published = commands.filter((line) => line.startsWith('npm publish'));
  const packages = globSync('packages/{server,client}/package.json', { cwd: root });
  expect(published).toHaveLength(packages.length);
});

test('a repository on GitHub is listed in the registry of MCP, after npm has the package', () => {
  expect(release('--dry-run').commands.join('\n')).not.toContain('mcp-publisher');
  git('remote', 'set-url', 'origin', 'git@github.com:team/erp-proxy.git');
  const { commands, problems } = release('--dry-run');
  expect(problems).toEqual([]);
  const place = (command: string) => commands.findIndex((line) => line.startsWith(command));
  expect(place('npm run pack')).toBeLessThan(place('mcp-publisher validate ./out/server.json'));
  expect(place('mcp-publisher validate ./out/server.json')).toBeLessThan(place('git tag'));
  expect(place('npm publish')).toBeLessThan(place('mcp-publisher publish ./out/server.json'));
});

test.each<[name: string, change: () => void, problem: RegExp]>([
  ['changes', () => edit('CHANGELOG.md', (text) => `${text}\n`), /not committed/],
  ['a tag', () => git('tag', `v${version}`), /the tag v.* exists/],
  [
    'no heading',
    () => {
      edit('CHANGELOG.md', (text) => text.replace(`## ${version}`, '## 0.0.1'));
      commit();
    },
    /CHANGELOG\.md has no heading/,
  ],
  [
    'another version of the chart',
    () => {
      edit('deploy/helm/erp-proxy/Chart.yaml', (text) => text.replace(/appVersion: .*/, 'appVersion: 9.9.9'));
      commit();
    },
    /Chart\.yaml \(appVersion\) has the version 9\.9\.9/,
  ],
  [
    'another version of a package',
    () => {
      edit('packages/contract/package.json', (text) => text.replace(/"version": ".*"/, '"version": "9.9.9"'));
      commit();
    },
    /packages\/contract\/package\.json has the version 9\.9\.9/,
  ],
  [
    'another version of the client for Python',
    () => {
      edit('packages/python/build_backend.py', (text) =>
        text.replace(/^VERSION = .*$/m, 'VERSION = "9.9.9"'),
      );
      commit();
    },
    /build_backend\.py has the version 9\.9\.9/,
  ],
  [
    'no repository',
    () => {
      git('remote', 'set-url', 'origin', '/srv/git/erp-proxy');
    },
    /the remote "origin" is no public address/,
  ],
])('%s: the release is refused with that problem alone, before any command', (_name, change, problem) => {
  change();
  const { status, problems, commands } = release('--image=a.example/b', '--charts=oci://a.example');
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(commands).toEqual([]);
  expect(status).toBe(1);
});

test('a release without the names of its registries is refused', () => {
  expect(release().status).toBe(2);
});
