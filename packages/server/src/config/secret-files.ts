/**
 * Reads the files of `…_FILE` variables again while the proxy runs, and hands changed values over. Decides when a file
 * has a new value; `Taker`s decide whether that is taken over. A file that has no usable value changes nothing.
 */
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SerialQueue, startPeriodicTask } from '@erp-proxy/async/tasks';
import { checkValue, readSetting, replaceSetting, type Sources } from './load.ts';
import { nameFileVariable, SETTING_NAMES } from './names.ts';
import { type Environment, readSecretText } from './read-environment.ts';
import { explainReadError, TextFileError } from './read-error.ts';
import type { SettingName, Settings } from './schema.ts';

export interface SecretFile {
  readonly name: SettingName;
  readonly path: string;
}

/** Settings that are taken over together, and how. */
export interface Taker {
  readonly names: readonly SettingName[];
  /** Rejects, and has changed nothing, if the new values cannot be used. The message is for operators. */
  take(next: Settings, current: Settings): Promise<void>;
}

export interface SecretFilesOptions {
  files: readonly SecretFile[];
  /** The settings in use. */
  settings: Settings;
  takers: readonly Taker[];
  /** Called after a value was taken over, with the settings that are in use now. */
  onTaken: (name: SettingName, settings: Settings) => void;
  /** Called once for each reason why the value of a file is not taken over. */
  onProblem: (name: SettingName, problem: string) => void;
  onError: (error: unknown) => void;
}

export interface SecretFiles {
  /** Why the values of files are not in use. The texts contain no secret. */
  readonly problems: ReadonlyMap<SettingName, string>;
  /** Reads the files at intervals from now on. */
  start(): void;
  /**
   * Reads all files once. A new value is taken over when two readings in a row have found it, because the file may be
   * written at this moment.
   */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A new value is in use after two intervals at most. */
const INTERVAL_MS = 5000;
const BYTES_MAX = 64 * 1024;

/** The settings whose value in use came from a file. */
export function listSecretFiles(
  { sources }: { sources: Sources },
  env: Environment,
  cwd: string,
): SecretFile[] {
  return SETTING_NAMES.filter((name) => sources.get(name) === nameFileVariable(name)).map((name) => ({
    name,
    path: resolve(cwd, env[nameFileVariable(name)] ?? ''),
  }));
}

export function watchSecretFiles({
  files,
  settings: initial,
  takers,
  onTaken,
  onProblem,
  onError,
}: SecretFilesOptions): SecretFiles {
  let settings = initial;
  const problems = new Map<SettingName, string>();
  /** The text of each file at the last reading. */
  const seen = new Map<SettingName, string>();
  const checks = new SerialQueue();
  let task: ReturnType<typeof startPeriodicTask> | null = null;

  function report(name: SettingName, problem: string): void {
    if (problems.get(name) === problem) return;
    problems.set(name, problem);
    onProblem(name, problem);
  }

  /** Adds the value of the file to `changed` if it is another one than the value in use. */
  async function read({ name, path }: SecretFile, changed: Map<SettingName, unknown>): Promise<void> {
    const before = seen.get(name);
    seen.delete(name);
    try {
      const text = await readText(path);
      if (text === null) return;
      const checked = checkValue({ name, value: readSecretText(name, text) });
      if (!checked.ok) throw new TextFileError(checked.message);
      seen.set(name, text);
      if (isDeepStrictEqual(checked.value, readSetting(settings, name))) problems.delete(name);
      else if (before === text) changed.set(name, checked.value);
    } catch (error) {
      report(name, explainReadError(error));
    }
  }

  async function takeOver({ names, take }: Taker, changed: ReadonlyMap<SettingName, unknown>): Promise<void> {
    const taken = names.filter((name) => changed.has(name));
    if (taken.length === 0) return;
    const next = taken.reduce((all, name) => replaceSetting(all, name, changed.get(name)), settings);
    try {
      await take(next, settings);
    } catch (error) {
      for (const name of taken) report(name, error instanceof Error ? error.message : String(error));
      return;
    }
    settings = next;
    for (const name of taken) {
      problems.delete(name);
      onTaken(name, settings);
    }
  }

  async function checkAll(): Promise<void> {
    const changed = new Map<SettingName, unknown>();
    for (const file of files) await read(file, changed);
    for (const taker of takers) await takeOver(taker, changed);
    for (const name of changed.keys()) {
      if (!takers.some(({ names }) => names.includes(name))) report(name, NEEDS_RESTART);
    }
  }

  const check = () => checks.run(checkAll);

  return {
    problems,
    start() {
      if (files.length > 0) task ??= startPeriodicTask(check, { intervalMs: INTERVAL_MS, onError });
    },
    check,
    async close() {
      await task?.close();
    },
  };
}

const NEEDS_RESTART = 'the file has another value, which takes effect after a restart';

/** Null for what is no regular file: a pipe, for example, can be read only once, at the start. */
async function readText(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    if (!(await file.stat()).isFile()) return null;
    const buffer = Buffer.alloc(BYTES_MAX + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      ({ bytesRead: read } = await file.read(buffer, length));
    }
    if (length > BYTES_MAX) throw new TextFileError('the file is larger than 64 KiB');
    const bytes = buffer.subarray(0, length);
    if (!isUtf8(bytes)) throw new TextFileError('the file is not UTF-8; save it in this encoding');
    const text = bytes.toString();
    if (text.trim() === '') throw new TextFileError('the file is empty');
    return text;
  } finally {
    await file.close();
  }
}
