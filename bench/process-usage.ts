/** What a process and its children have used, as Linux counts it (proc(5)). Knows nothing of what they do. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Linux counts in hundredths of a second on every common machine (USER_HZ). */
const TICK_MS = 10;

/** User and system time since the start. */
export function readCpuMs(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readOwnCpuMs(member), 0);
}

/** The most memory that was ever resident, since {@link resetPeakMemory} where that was called. */
export function readPeakBytes(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readStatusBytes(member, 'VmHWM'), 0);
}

export function readResidentBytes(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readStatusBytes(member, 'VmRSS'), 0);
}

export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** How many files and sockets the process may have open. */
export function readOpenFilesMax(pid: number): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
  return Number(soft);
}

function readOwnCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in brackets may hold spaces; user and system time are the 14th and 15th field of the whole line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function readStatusBytes(pid: number, name: string): number {
  const [, kibibytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1024;
}

/** nginx works in a child of the process that is started. */
function listFamily(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return [pid, ...children.flatMap(listFamily)];
}
