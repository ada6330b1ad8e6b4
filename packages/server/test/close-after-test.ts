/** Closes what a test has opened, in reverse order, after the test. */
import { afterEach } from 'vitest';

interface Closeable {
  close(): unknown;
}

const open: Closeable[] = [];
afterEach(async () => {
  for (const opened of open.splice(0).reverse()) await opened.close();
});

/** Returns its argument, which is closed after the current test. */
export function closeAfterTest<Opened extends Closeable>(opened: Opened): Opened {
  open.push(opened);
  return opened;
}
