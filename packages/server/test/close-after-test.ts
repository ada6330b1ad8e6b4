/**
 * Closes what tests have opened, in reverse order. The hooks are in `setup.ts`, which vitest runs for each test file:
 * all files of a worker share this module, so hooks registered here would apply only to the first file.
 */

interface Closeable {
  close(): unknown;
}

const ofTest: Closeable[] = [];
const ofFile: Closeable[] = [];

/** Returns its argument, which is closed after the current test. */
export function closeAfterTest<Opened extends Closeable>(opened: Opened): Opened {
  ofTest.push(opened);
  return opened;
}

/** Returns its argument, which is closed after the tests of the current file. */
export function closeAfterFile<Opened extends Closeable>(opened: Opened): Opened {
  ofFile.push(opened);
  return opened;
}

export const closeOfTest = () => closeAll(ofTest);
export const closeOfFile = () => closeAll(ofFile);

/** Closes all, even if closing one of them fails. */
async function closeAll(opened: Closeable[]): Promise<void> {
  const errors: unknown[] = [];
  for (const one of opened.splice(0).reverse()) {
    try {
      await one.close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
