/**
 * Drafts: files that are written beside another one and then take its place. A process that is killed meanwhile leaves
 * its draft behind. The next one that writes the same file removes it.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A name has at most 255 bytes; four bytes a character, and those of the id. */
const NAME_LENGTH_MAX = 50;
/** No process needs longer to write a draft. */
const LEFT_AFTER_MS = 60_000;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function nameDraft(path: string): string {
  return join(dirname(path), `${prefixOf(path)}${randomUUID()}`);
}

/** Removes drafts of the file that killed processes have left. Never throws. */
export function removeLeftDrafts(path: string): void {
  const folder = dirname(path);
  const prefix = prefixOf(path);
  try {
    for (const name of readdirSync(folder)) {
      if (!name.startsWith(prefix) || !ID.test(name.slice(prefix.length))) continue;
      const draft = join(folder, name);
      if (Date.now() - statSync(draft).mtimeMs > LEFT_AFTER_MS) rmSync(draft);
    }
  } catch {
    // Another process has removed it, or this one may not: the file itself can be written nevertheless.
  }
}

function prefixOf(path: string): string {
  return `.${basename(path).slice(0, NAME_LENGTH_MAX)}.`;
}
