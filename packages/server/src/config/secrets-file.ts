/**
 * The file secrets.yaml beside a SQLite database: `serve` creates it at a first start on a terminal, and every command
 * reads it. Finds its path, refuses a file that other users may read or have written, and writes it. Creates no secret.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { findEngine } from '@erp-proxy/stores';
import { nameDraft } from './drafts.ts';
import type { Reading } from './given.ts';
import { splitName } from './names.ts';
import { explainReadError, readErrorCode } from './read-error.ts';
import { readSettingsFile } from './read-settings-file.ts';
import { readTextFile } from './read-text-file.ts';
import type { SettingName } from './schema.ts';

/** The settings that the file may have. */
export type FileSecrets = { readonly [Name in (typeof FILE_SECRETS)[number]]?: string };
const FILE_SECRETS = ['admin.token', 'vault.masterKey'] as const satisfies readonly SettingName[];

/**
 * Path of the file for a store, relative to the working directory like that of the store; null if the store has none.
 */
export function locateSecretsFile(storeUrl: string): string | null {
  const database = findEngine(storeUrl).findFile(storeUrl);
  return database === null ? null : join(dirname(database), 'secrets.yaml');
}

/** A file that must not be used. The message says what to do. */
class UnsafeFileError extends Error {}

/** Reads the settings of the file. `label` names the file in sources. */
export function readSecretsFile(path: string, label: string): Reading {
  let text: string;
  try {
    text = readPrivateFile(path);
  } catch (error) {
    const isUnsafe = error instanceof UnsafeFileError;
    // The file also counts as absent if this user may not read the folder, so that commands without a store work there.
    if (!isUnsafe && !existsSync(path)) return { given: [], errors: [] };
    const message = isUnsafe ? error.message : `${explainReadError(error)}; ${OWN_USER}`;
    return { given: [], errors: [{ source: label, message }] };
  }
  const { given, errors } = readSettingsFile(text, label);
  const names: readonly string[] = FILE_SECRETS;
  const others = given.filter(({ name }) => !names.includes(name));
  return {
    given: given.filter(({ name }) => names.includes(name)),
    errors: [
      ...errors,
      ...others.map(({ name, source }) => ({
        source,
        message: `this file has only ${FILE_SECRETS.join(' and ')}; move ${name} to erp-proxy.yaml`,
      })),
    ],
  };
}

/** Creates the file, whole or not at all. Returns false if the file exists already. Throws as `writeFileSync` does. */
export function createSecretsFile(path: string, secrets: FileSecrets): boolean {
  const draft = nameDraft(path);
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(file, printSecrets(secrets));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // Unlike a rename, a link fails if another process has created the file in the meantime.
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Reads the file after checks, which apply to the opened file, so that nobody can exchange it meanwhile. */
function readPrivateFile(path: string): string {
  const file = openWithoutLink(path);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new UnsafeFileError('this is no regular file; remove it');
    // Windows has neither user ids nor modes.
    if (process.getuid !== undefined) {
      if (found.uid !== process.getuid()) {
        throw new UnsafeFileError(
          `the file belongs to another user; ${OWN_USER}, or change its owner with chown`,
        );
      }
      if ((found.mode & 0o077) !== 0) {
        throw new UnsafeFileError(
          'other users may read or change the file; run chmod 600 on it, and replace its secrets if others know them',
        );
      }
    }
    return readTextFile(file);
  } finally {
    closeSync(file);
  }
}

/** Opens no symbolic link. Does not wait for a writer if the file is a pipe. */
function openWithoutLink(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (readErrorCode(error) !== 'ELOOP') throw error;
    throw new UnsafeFileError('this is a symbolic link; put the file itself here');
  }
}

const OWN_USER = 'run the command as the user of the proxy';

function printSecrets(secrets: FileSecrets): string {
  const groups = Object.entries(secrets).map(([name, value]) => {
    const [group, key] = splitName(name as SettingName);
    return `${group}:\n  ${key}: ${JSON.stringify(value)}\n`;
  });
  return `${HEAD}${groups.join('')}`;
}

const HEAD = `# Secrets of erp-proxy, created at its first start. erp-proxy.yaml, the environment and flags take precedence.
# Back it up as well: without vault.masterKey, the keys of stored instances cannot be opened.
`;
