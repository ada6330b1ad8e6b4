/** Runs before each test file: the hooks that all files have. They run after those of the file. */
import { afterAll, afterEach } from 'vitest';
import { closeOfFile, closeOfTest } from './close-after-test.ts';

const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;

afterEach(closeOfTest);
afterAll(async () => {
  await closeOfFile();
  expectRealTimers();
});

/** With the timers of a fake clock, the next files of this worker would wait without end. */
function expectRealTimers(): void {
  for (const [name, real] of Object.entries({ setTimeout, clearTimeout, setInterval, clearInterval })) {
    if (globalThis[name as 'setTimeout'] === real) continue;
    Object.assign(globalThis, { [name]: real });
    throw new Error(
      `This file leaves a changed ${name} to the next ones. End fake timers with vi.useRealTimers().`,
    );
  }
}
