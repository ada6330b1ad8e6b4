/** Reads the CPU time, memory and wake-ups of a process and its children from /proc (proc(5)). */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** Length of a clock tick (USER_HZ), which is 100 Hz on every common machine. */
const TICK_MS = 10;

/**
 * User and system time in milliseconds, of the threads that exist now. The subjects keep their threads, so that the
 * difference of two readings is what was used between them.
 */
export function readCpuMs(pid: number): number {
  return listFamily(pid).reduce((sum, member) => sum + readOwnCpuMs(member), 0);
}

/** How often the threads gave up the processor to wait. This counts wake-ups: something ended each wait. */
export function readWakeUps(pid: number): number {
  const readThread = (status: string) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return listFamily(pid).reduce((sum, member) => sum + sumThreads(member, 'status', readThread), 0);
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
  // schedstat counts nanoseconds. It reads 0 if the kernel was built without it.
  const scheduledNs = sumThreads(pid, 'schedstat', (line) => Number(line.split(' ')[0]));
  return scheduledNs > 0 ? scheduledNs / 1e6 : readOwnCpuTicks(pid) * TICK_MS;
}

function readOwnCpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name in brackets can contain spaces. User and system time are the fields 14 and 15 of the line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function readStatusBytes(pid: number, name: string): number {
  const [, kibibytes] =
    new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kibibytes) * 1024;
}

function sumThreads(pid: number, file: string, read: (text: string) => number): number {
  let sum = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += read(readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'latin1'));
    } catch (error) {
      // The thread has ended since it was listed, or the kernel has no such file.
      if (!['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return sum;
}

/** Workers of erp-proxy and nginx are children of the process that was started. */
function listFamily(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return [pid, ...children.flatMap(listFamily)];
}
