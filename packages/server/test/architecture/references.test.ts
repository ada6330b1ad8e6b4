/**
 * Checks references: each anchor or file that a comment, a test or a page names exists, and so does each recording that
 * proves a fact about Odoo. No file cites a document that the repository does not have.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, test } from 'vitest';
import { findFiles, readText, root } from './repository-files.ts';

const FACTS_PAGE = 'docs/odoo-facts.md';
const RECORDINGS = 'packages/sandbox/recordings';
const TEXT_BYTES_MAX = 2_000_000;

/** A page by its path from the root, with its anchor; not a part of a URL or of a longer path. */
const PAGE_REFERENCE = /(?<![\w./-])((?:docs\/(?:[\w-]+\/)*[\w-]+|[A-Z]{4,})\.md)(?:#([\w-]*))?/g;

const FILE_NAME = /(?<![\w./{}*-])((?:[\w-]+\/)*[\w.-]+\.(?:ts|mjs|md))(?![\w-])/g;

/** References to notes from the beginning of the project, which readers do not have. */
const FOREIGN_REFERENCE = /\bFACTS\b|\b[Cc]ontract,? section|\bDESIGN(?:\.md|,? (?:section )?\d)/;

const files = findFiles('**/*').filter((file) => statSync(join(root, file)).size <= TEXT_BYTES_MAX);

describe('every file', () => {
  test('names only pages and anchors that exist', () => {
    const broken = files.flatMap((file) =>
      listReferences(readText(file))
        .filter((reference) => !leadsToAnchor(reference))
        .map(({ page, anchor }) => `${file}: ${page}#${anchor}`),
    );
    expect(broken).toEqual([]);
  });

  test('names only files that exist in comments and pages', () => {
    const paths = findFiles('**/*').map((file) => `/${file}`);
    const missing = files
      .flatMap((file) => listFileNames(file, readText(file)).map((name) => ({ file, name })))
      .filter(({ name }) => !paths.some((path) => path.endsWith(`/${name}`)))
      .map(({ file, name }) => `${file}: ${name}`);
    expect(missing).toEqual([]);
  });

  test('cites no document that the repository does not have', () => {
    const cited = files.flatMap((file) => {
      const match = FOREIGN_REFERENCE.exec(readText(file));
      return match ? [`${file}: ${match[0]}`] : [];
    });
    expect(cited).toEqual([]);
  });
});

test.each(findFiles('{*.md,docs/**/*.md,packages/*/*.md}'))('%s: every linked anchor exists', (page) => {
  const broken = listLinkedAnchors(page, readText(page)).filter((reference) => !leadsToAnchor(reference));
  expect(broken).toEqual([]);
});

describe('the facts about Odoo', () => {
  test('name recordings that exist', () => {
    const proofs = listProofs(readText(FACTS_PAGE));
    expect(proofs.length).toBeGreaterThan(100);
    expect(proofs.filter((proof) => !isRecorded(proof))).toEqual([]);
  });

  test('say what proves them', () => {
    const unproved = listFacts(readText(FACTS_PAGE)).filter((fact) => !/proof|source|measured/i.test(fact));
    expect(unproved).toEqual([]);
  });

  test('have anchors of their own', () => {
    const anchors = [...readText(FACTS_PAGE).matchAll(/<a id="([\w-]+)">/g)].map(([, id]) => id);
    expect(anchors.filter((id, at) => anchors.indexOf(id) !== at)).toEqual([]);
  });
});

describe('the checks of this file', () => {
  test('find references, and tell those that lead nowhere', () => {
    const nowhere = `${'docs'}/nowhere.md`;
    const text = `// See ${FACTS_PAGE}#none-result, ${nowhere} and https://example.com/docs/x.md.`;
    const references = listReferences(text);
    expect(references).toEqual([
      { page: FACTS_PAGE, anchor: 'none-result' },
      { page: nowhere, anchor: '' },
    ]);
    expect(references.map(leadsToAnchor)).toEqual([true, false]);
    expect(leadsToAnchor({ page: FACTS_PAGE, anchor: 'no-such-fact' })).toBe(false);
    expect(leadsToAnchor({ page: 'docs/errors.md', anchor: 'sending-a-call-again' })).toBe(true);
  });

  test('find names of files in comments and pages', () => {
    const code = `// See pipeline.ts.\nconst name = 'x.ts';\n/** As ${'keys'}/keys.ts does, not ../y.ts. */`;
    expect(listFileNames('a.ts', code)).toEqual(['pipeline.ts', 'keys/keys.ts']);
    expect(listFileNames('a.md', 'See `pipeline.ts` and https://example.com/x.ts.')).toEqual(['pipeline.ts']);
    expect(listFileNames('a.json', 'pipeline.ts')).toEqual([]);
  });

  test('find anchors of links', () => {
    expect(
      listLinkedAnchors('docs/errors.md', '[a](#x) [b](metrics.md#y) [c](../README.md#z) [d](e.md)'),
    ).toEqual([
      { page: 'docs/errors.md', anchor: 'x' },
      { page: 'docs/metrics.md', anchor: 'y' },
      { page: 'README.md', anchor: 'z' },
    ]);
  });

  test('find proofs, and tell those that were not recorded', () => {
    const proofs = listProofs(
      '`jsonrpc/read-fields`, `16.0-jsonrpc/has-group`, `errors-15.0/unique`, `http.py`',
    );
    expect(proofs.map(isRecorded)).toEqual([true, false, true]);
  });

  test('find a citation of a foreign document', () => {
    for (const text of ['FACT|S 4.6', 'con|tract section 1', 'DESI|GN 1', 'DESI|GN section 3']) {
      expect(FOREIGN_REFERENCE.test(text.replace('|', ''))).toBe(true);
    }
    expect(FOREIGN_REFERENCE.test('RFC 9110 section 15.2')).toBe(false);
  });
});

interface Reference {
  page: string;
  anchor: string;
}

function listReferences(text: string): Reference[] {
  return [...text.matchAll(PAGE_REFERENCE)].map(([, page = '', anchor = '']) => ({ page, anchor }));
}

/** Names of source files and pages, by their path or its end, in comments of code or anywhere in a page. */
function listFileNames(file: string, text: string): string[] {
  const isPage = file.endsWith('.md');
  if (!isPage && !file.endsWith('.ts')) return [];
  return text
    .split('\n')
    .filter((line) => isPage || /^\s*(?:\/?\*|\/\/)/.test(line))
    .flatMap((line) => [...line.matchAll(FILE_NAME)].map(([, name = '']) => name));
}

function listLinkedAnchors(page: string, markdown: string): Reference[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/\]\(([\w./-]*)#([^)\s]+)\)/g)].map(([, target = '', anchor = '']) => ({
    page: target === '' ? page : join(dirname(page), target),
    anchor,
  }));
}

const anchorsOfPages = new Map<string, Set<string>>();

function leadsToAnchor({ page, anchor }: Reference): boolean {
  if (!existsSync(join(root, page))) return false;
  if (anchor === '') return true;
  let anchors = anchorsOfPages.get(page);
  if (anchors === undefined) {
    anchors = listAnchors(readText(page));
    anchorsOfPages.set(page, anchors);
  }
  return anchors.has(anchor);
}

/** The ids of a page, and the anchors that GitHub makes of its headings. */
function listAnchors(markdown: string): Set<string> {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, '');
  const ids = [...prose.matchAll(/<a id="([\w-]+)">/g)].map(([, id = '']) => id);
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...ids, ...headings]);
}

/**
 * The text of each fact: from its anchor to the next anchor or heading. The list of differences by version only links
 * to facts.
 */
function listFacts(markdown: string): string[] {
  const [facts = ''] = markdown.split('\n## Differences by version');
  return facts.split(/^(?=<a id=|#)/m).filter((part) => part.startsWith('<a id='));
}

/** The recordings that a text names: `jsonrpc/read`, `16.0-web/health`, `errors-14.0/unique`. */
function listProofs(markdown: string): string[] {
  return [
    ...markdown.matchAll(/`((?:(?:\d\d\.0-)?(?:jsonrpc|json2|doc|web|real)|errors-\d\d\.0)\/[\w.-]+)`/g),
  ].map(([, proof = '']) => proof);
}

const recordedNames = new Map(
  readdirSync(join(root, RECORDINGS)).map((file) => [
    file.replace(/\.jsonl?$/, ''),
    readRecordedNames(join(root, RECORDINGS, file)),
  ]),
);

function isRecorded(proof: string): boolean {
  const [source = '', name = ''] = proof.split('/');
  return [...recordedNames].some(
    ([file, names]) => (file === source || file.endsWith(`-${source}`)) && names.has(name),
  );
}

function readRecordedNames(path: string): Set<string> {
  const text = readFileSync(path, 'utf8');
  if (path.endsWith('.json')) return new Set(Object.keys(JSON.parse(text) as object));
  const lines = text.split('\n').filter((line) => line !== '');
  return new Set(lines.map((line) => (JSON.parse(line) as { name: string }).name));
}
