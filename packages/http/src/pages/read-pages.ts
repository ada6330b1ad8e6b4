/**
 * Reads the documentation: the Markdown files of a folder, as this proxy serves them. Only files that the folder had at
 * the start can be served. Knows no request.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Page {
  /** Name of the file, such as `policies.md`. */
  name: string;
  title: string;
  /** The first sentence of the page, without links. */
  summary: string;
  /** The page, without links to files that are not served. */
  text: string;
}

/** The pages by the names of their files. Each page is read when it is asked for, at most once. */
export class Pages {
  readonly names: readonly string[];
  readonly #folder: string;
  readonly #read = new Map<string, Page>();

  constructor(folder: string) {
    this.#folder = folder;
    // Without the folder, there are no pages: a bundle of the program works without them.
    const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
    const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md'));
    this.names = files.map(({ name }) => name).sort();
  }

  /** Undefined if there is no such page. */
  find(name: string): Page | undefined {
    if (!this.names.includes(name)) return undefined;
    const page = this.#read.get(name) ?? this.#readPage(name);
    this.#read.set(name, page);
    return page;
  }

  #readPage(name: string): Page {
    const source = readFileSync(join(this.#folder, name), 'utf8').replace(/^<!--.*-->\n+/, '');
    const [, title = name] = /^# (.+)$/m.exec(source) ?? [];
    const paragraph = source.split(/\n{2,}/).find((part) => !part.startsWith('#')) ?? '';
    const plain = replaceLinks(paragraph, () => false).replaceAll(/\s+/g, ' ');
    const [sentence] = /^.*?\.(?= |$)/.exec(plain) ?? [plain];
    return {
      name,
      title,
      summary: sentence.trim().replace(/:$/, '.'),
      text: replaceLinks(source, (target) => this.#isServed(target)),
    };
  }

  /** True for an anchor, an address and a page, with or without an anchor. */
  #isServed(target: string): boolean {
    return /^(#|[a-z]+:)/.test(target) || this.names.includes(target.replace(/#.*/, ''));
  }
}

/** A block of code, a link or an image, or code in a line. */
const CODE_OR_LINK = /^```[\s\S]*?^```|!?\[((?:[^[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)|`[^`\n]+`/gm;

/** Replaces each link whose target is not kept with its text. */
function replaceLinks(text: string, isKept: (target: string) => boolean): string {
  return text.replaceAll(CODE_OR_LINK, (found, label?: string, target?: string) =>
    target === undefined || isKept(target) ? found : (label as string),
  );
}
