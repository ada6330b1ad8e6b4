/**
 * Detects that npm or npx, which started this program, has ended. Both run a program below a shell, and a signal that
 * ends them or the shell does not reach the program.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { readErrorCode } from '../config/read-error.ts';

const PAUSE_MS = 500;
const SHELL = /^-?(\S*\/)?(ba|da|z|k)?sh(\0|$)/;
/** Matches npm or npx as the title of the process, or as the script that Node runs. */
const LAUNCHER = /(^|[/\0])(npm|npx|pnpm|yarn)(-cli)?(\.c?js)?([ \0]|$)/;

interface ProcessFacts {
  parent: number;
  /** Distinguishes a process from a later one with the same id. */
  startedAt: string;
  /** Arguments, separated by NUL. */
  commandLine: string;
}

/** Resolves when npm or npx has ended; never if neither of them started this program. */
export async function untilLauncherEnds(env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const hasEnded = env['npm_command'] === undefined ? null : watchLauncher();
  while (hasEnded !== null && !hasEnded()) await sleep(PAUSE_MS, null, { ref: false });
  if (hasEnded === null) await new Promise(() => {});
}

/** Returns a function that tells whether the launcher or its shell has ended; null if there is no launcher. */
function watchLauncher(): (() => boolean) | null {
  const { ppid } = process;
  const parent = readProcess(ppid);
  // Without /proc, only the id of the parent is known, and compared.
  if (parent === null || parent === UNREADABLE) return () => process.ppid !== ppid;
  const launcherId = SHELL.test(parent.commandLine) ? parent.parent : ppid;
  const launcher = readProcess(launcherId);
  if (launcher === null || launcher === UNREADABLE || !LAUNCHER.test(launcher.commandLine)) return null;
  return () => {
    if (process.ppid !== ppid) return true;
    const now = readProcess(launcherId);
    return now !== UNREADABLE && now?.startedAt !== launcher.startedAt;
  };
}

/** The process may be running, but cannot be read, for example because this process lacks file descriptors. */
const UNREADABLE = Symbol('unreadable');

/** Null if the process has ended, or if there is no /proc (proc(5)). */
function readProcess(id: number): ProcessFacts | typeof UNREADABLE | null {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'latin1');
    // The name of the process, in parentheses, may contain blanks. The state and the other members follow it.
    const [state, parent, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z') return null;
    const commandLine = readFileSync(`/proc/${id}/cmdline`, 'utf8');
    return { parent: Number(parent), startedAt: more[17] ?? '', commandLine };
  } catch (error) {
    return GONE.has(readErrorCode(error) ?? '') ? null : UNREADABLE;
  }
}

/** ESRCH: the process ended while its file was read. */
const GONE: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH']);
