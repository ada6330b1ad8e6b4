/**
 * A draft is a file that is written beside another file and then replaces it. A process that is killed meanwhile leaves
 * its draft behind. The next process that writes the same file removes the draft.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Maximum characters of the file's name in that of the draft: a name has at most 255 bytes, and a character up to four.
 */
const NAME_LENGTH_MAX = 50;
/** Age from which a draft is removed: no process takes longer to write one. */
const LEFT_AFTER_MS = 60_000;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function nameDraft(path: string): string {
  return join(dirname(path), `${prefixOf(path)}${randomUUID()}`);
}

/** Removes drafts of the file that were left by killed processes. Never throws. */
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
    // Another process has removed the draft, or this one may not remove it: the file can still be written.
  }
}

function prefixOf(path: string): string {
  return `.${basename(path).slice(0, NAME_LENGTH_MAX)}.`;
}
