/**
 * A sink of the audit in a file: lines are appended, and on the disk before the next ones. If the file was renamed or
 * removed, as rotation does, a new one is begun. Knows nothing of the store.
 */
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AuditPosition, AuditRow } from '@erp-proxy/stores/ports';
import type { AuditTarget } from './sink.ts';
import { printSinkLine, readSinkLine } from './sink-line.ts';

/** The file belongs to the user of the proxy alone. */
const MODE = 0o600;
const LINE_FEED = 0x0a;
/** Number of bytes at the end of a file in which its last line is looked for. A record is shorter. */
const TAIL_BYTES = 16 * 1024 ** 2;
const LINE_START = '{"seq":';

/** `path` is absolute, or relative to the working directory. */
export function createFileTarget(path: string): AuditTarget {
  let file: FileHandle | null = null;
  /** The last record of the file; null if it has none. */
  let last: AuditPosition | null = null;

  /** The file at the path, which may be another one than before. */
  async function openFile(): Promise<FileHandle> {
    if (file !== null && (await isAtPath(file))) return file;
    await file?.close();
    file = null;
    const opened = await open(path, 'a+', MODE);
    try {
      const found = await opened.stat();
      if (!found.isFile()) throw new Error('audit.sinkPath is no regular file');
      if (found.size === 0) await syncFolder(dirname(path));
      last = await repairEnd(opened);
    } catch (error) {
      await opened.close();
      throw error;
    }
    file = opened;
    return opened;
  }

  async function isAtPath(opened: FileHandle): Promise<boolean> {
    const own = await opened.stat({ bigint: true });
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found !== null && found.ino === own.ino && found.dev === own.dev;
  }

  return {
    name: `file ${path}`,
    async findLast(): Promise<AuditPosition | null> {
      await openFile();
      return last;
    },
    async write(rows: readonly AuditRow[]): Promise<void> {
      const opened = await openFile();
      const { size } = await opened.stat();
      try {
        await opened.appendFile(rows.map(printSinkLine).join(''));
        await opened.sync();
      } catch (error) {
        // A full disk may have taken a part, which the next attempt would follow.
        await opened.truncate(size).catch(() => {});
        throw error;
      }
      last = rows.at(-1) ?? last;
    },
    async close(): Promise<void> {
      await file?.close();
      file = null;
    },
  };
}

/**
 * Removes the end of a line that a killed process has left incomplete, and whose record is written again. Returns the
 * last record. Throws, and changes nothing, if the end of the file is none of the audit.
 */
async function repairEnd(file: FileHandle): Promise<AuditPosition | null> {
  const { size } = await file.stat();
  const tail = await readTail(file, size);
  const end = tail.lastIndexOf(LINE_FEED) + 1;
  const broken = tail.subarray(end).toString();
  const whole = tail.subarray(0, Math.max(0, end - 1));
  const record = readSinkLine(whole.subarray(whole.lastIndexOf(LINE_FEED) + 1).toString())?.at(-1) ?? null;
  const isOwn = broken.startsWith(LINE_START) || LINE_START.startsWith(broken);
  if ((end > 0 && record === null) || !isOwn || (end === 0 && size > TAIL_BYTES)) {
    throw new Error('audit.sinkPath has other lines than those of the audit: name a file of its own');
  }
  if (end < tail.length) await file.truncate(size - (tail.length - end));
  return record;
}

async function readTail(file: FileHandle, size: number): Promise<Buffer> {
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
  return tail.subarray(0, bytesRead);
}

/** A new file is in its folder after a power loss, too. Not possible on every system. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r').catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}
