/**
 * Creates or replaces a file as a whole: the text is written to a new file beside it, which then takes its place. If
 * the disk is full or the process ends meanwhile, the earlier text is still there. Knows nothing about the text.
 */
import type { Stats } from 'node:fs';
import { access, constants, lstat, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { nameDraft, removeLeftDrafts } from '../config/drafts.ts';
import { readErrorCode } from '../config/read-error.ts';

/**
 * Errors of the disk, which overwriting the file in place would meet, too. Another error means that no draft can be
 * made beside the file: the folder is not writable, the owner cannot be set, or the file is a mount point.
 */
const DISK_ERRORS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/**
 * Keeps permissions and owner of an existing file, and follows symbolic links. `mode`: permissions of a new file.
 * Rejects as `writeFile` does.
 */
export async function replaceFile(path: string, text: string | Uint8Array, mode = 0o666): Promise<void> {
  const present = await ignoreMissing(stat(path));
  if (present === null) {
    // A rename would replace a symbolic link whose target does not exist yet.
    const isLink = (await ignoreMissing(lstat(path))) !== null;
    return isLink ? writeFile(path, text, { mode }) : replaceByRename(path, null, text, mode);
  }
  // Writes to a device, such as /dev/stdout, or to a pipe, instead of replacing it.
  if (!present.isFile()) return writeFile(path, text);
  // Fails for a write-protected file, which a rename would replace, too.
  await access(path, constants.W_OK);
  try {
    await replaceByRename(await realpath(path), present, text, 0o600);
  } catch (error) {
    if (DISK_ERRORS.has(readErrorCode(error) ?? '')) throw error;
    await writeFile(path, text);
  }
}

async function ignoreMissing<Found>(found: Promise<Found>): Promise<Found | null> {
  try {
    return await found;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function replaceByRename(
  path: string,
  present: Stats | null,
  text: string | Uint8Array,
  mode: number,
): Promise<void> {
  removeLeftDrafts(path);
  const draft = nameDraft(path);
  try {
    // Until it has the owner and mode of the present file, the draft is readable by its owner only.
    const file = await open(draft, 'wx', mode);
    try {
      if (present !== null) {
        const made = await file.stat();
        if (made.uid !== present.uid || made.gid !== present.gid) await file.chown(present.uid, present.gid);
        await file.chmod(present.mode & 0o7777);
      }
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
