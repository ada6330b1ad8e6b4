/**
 * Closes what tests have opened, in reverse order. The hooks are in `setup.ts`, which vitest runs for each test file:
 * files of one worker share this module, so hooks of its own would belong to the first of them alone.
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

/** Closes each, even if another one fails to close. */
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
