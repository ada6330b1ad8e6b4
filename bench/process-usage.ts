/** Reads the CPU time and memory of a process and its children from /proc (proc(5)). */
import { readFileSync, writeFileSync } from 'node:fs';

/** Length of a clock tick (USER_HZ), which is 100 Hz on every common machine. */
const TICK_MS = 10;

/** User and system time since the process started, in milliseconds. */
export function readCpuMs(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readOwnCpuMs(member), 0);
}

/** Peak resident memory in bytes, since the last {@link resetPeakMemory} or the start of the process. */
export function readPeakBytes(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readStatusBytes(member, 'VmHWM'), 0);
}

export function readResidentBytes(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readStatusBytes(member, 'VmRSS'), 0);
}

export function resetPeakMemory(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Maximum number of files and sockets that the process can open. */
export function readOpenFilesMax(pid: number): number {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8')) ?? [];
  return Number(soft);
}

function readOwnCpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in brackets can contain spaces. User and system time are the fields 14 and 15 of the line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function readStatusBytes(pid: number, name: string): number {
  const [, kibibytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1024;
}

/** nginx works in a child of the process that was started. */
function listFamily(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return [pid, ...children.flatMap(listFamily)];
}
