/**
 * Checks pages that people write against the repository: links name files that exist (anchors: references.test.ts), the
 * code map of ARCHITECTURE.md is the code, and no file mentions the machine it was written on. scripts/docs.ts --check
 * checks generated pages.
 */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFiles, readText, root } from './repository-files.ts';

/** Folders that paths of a page begin in, if they do not begin in the root. */
const BASES: Readonly<Record<string, string>> = {
  'ARCHITECTURE.md': 'packages/gateway/src',
  'CONTRIBUTING.md': 'packages/server/src',
};

/** Packages whose folders ARCHITECTURE.md lists. */
const MAPPED = 'admin,agents,control,data,gateway,http,observe,server,stores,traffic';

const TEXT_BYTES_MAX = 2_000_000;

/** A home or work folder, unless the text before it makes it a part of a URL or of a longer path. */
const MACHINE_PATH = /(?<![\w.:/-])\/(?:root|home|Users|work)\/[\w.]/;

const PACKAGE_REGISTRY =
  /https?:\/\/[^\s"'/]*(?:registry|artifactory|nexus|verdaccio)|^\s*(?:@\S+:)?registry\s*=/im;

describe('the pages', () => {
  test.each(findFiles('{*.md,docs/**/*.md,packages/*/*.md}'))('%s: every relative link resolves', (page) => {
    const broken = listLinks(readText(page)).filter((link) => !resolvesFrom(page, link));
    expect(broken).toEqual([]);
  });

  test.each(findFiles('{ARCHITECTURE,CONTRIBUTING,SECURITY}.md'))(
    '%s names only paths that exist',
    (page) => {
      const missing = listPaths(readText(page)).filter(
        (path) => !existsSync(join(root, path)) && !existsSync(join(root, BASES[page] ?? '', path)),
      );
      expect(missing).toEqual([]);
    },
  );

  test('ARCHITECTURE.md has a row for every folder at the top of a package', () => {
    const listed = [...readText('ARCHITECTURE.md').matchAll(/^\| `(packages\/\w+\/src\/[\w-]+)\/` \|/gm)].map(
      ([, path]) => path,
    );
    const folders = new Set(
      findFiles(`packages/{${MAPPED}}/src/*/**/*.ts`).map((file) => file.split('/').slice(0, 4).join('/')),
    );
    const expected = [...folders].filter((folder) => !folder.endsWith('/entry-points'));
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });
});

test('CONTRIBUTING.md shows commands for tests that exist', () => {
  const commands = [
    ...readText('CONTRIBUTING.md').matchAll(/^npx vitest (?:run )?(?:-t "([^"]+)"|(\S+))$/gm),
  ];
  expect(commands).toHaveLength(3);
  const tests = findFiles('packages/**/*.test.ts').map(readText);
  for (const [, name, path] of commands) {
    if (path !== undefined) expect(existsSync(join(root, path)), path).toBe(true);
    else
      expect(
        tests.some((text) => text.includes(`('${name}'`)),
        name,
      ).toBe(true);
  }
});

describe('every file', () => {
  const files = findFiles('**/*').filter((file) => statSync(join(root, file)).size <= TEXT_BYTES_MAX);

  test('is free of paths of the machine it was written on', () => {
    expect(findMatches(files, MACHINE_PATH)).toEqual([]);
  });

  test('is free of package registries', () => {
    expect(findMatches(files, PACKAGE_REGISTRY)).toEqual([]);
  });
});

describe('the checks of this file', () => {
  test('find a link that leads nowhere', () => {
    const links = listLinks(
      '[a](pages/nowhere.md#top) [b](https://example.com) [c](#here)\n```\n[d](no)\n```\n',
    );
    expect(links).toEqual(['pages/nowhere.md']);
    expect(resolvesFrom('docs/errors.md', 'nowhere.md')).toBe(false);
    expect(resolvesFrom('docs/errors.md', 'errors.md')).toBe(true);
  });

  test('find a path of a machine and a registry', () => {
    expect(MACHINE_PATH.test(`cd ${'/'}root/erp`)).toBe(true);
    expect(MACHINE_PATH.test('POST /api/work/x, https://example.com/home/x')).toBe(false);
    expect(PACKAGE_REGISTRY.test(`"resolved": "https:${'//'}registry.example.com/x.tgz"`)).toBe(true);
    expect(PACKAGE_REGISTRY.test(`a=b\n${'registry'}=x`)).toBe(true);
    expect(PACKAGE_REGISTRY.test('omit-lockfile-registry-resolved=true')).toBe(false);
  });

  test('find the paths of a code map', () => {
    expect(
      listPaths('`keys/` holds `keys/keys.ts`; see `packages/contract/src`, not `a call` or `/api`'),
    ).toEqual(['keys/', 'keys/keys.ts', 'packages/contract/src']);
  });
});

function findMatches(files: string[], pattern: RegExp): string[] {
  return files.flatMap((file) => {
    const match = pattern.exec(readText(file));
    return match ? [`${file}: ${match[0]}`] : [];
  });
}

/** Targets of links to files of the repository, without fragments. */
function listLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/i.test(target));
}

function resolvesFrom(page: string, link: string): boolean {
  return existsSync(join(root, dirname(page), decodeURI(link)));
}

/**
 * Code spans that are paths of the repository: `json/`, `packages/gateway/src/run-call.ts`, `packages/contract/src`.
 */
function listPaths(markdown: string): string[] {
  return [...markdown.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
    .map(([, span = '']) => span)
    .filter((span) => span.includes('/'));
}
