/** Runs before each test file and adds the hooks that all files have. They run after the hooks of the file. */
import { afterAll, afterEach } from 'vitest';
import { closeOfFile, closeOfTest } from './close-after-test.ts';

const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;

afterEach(closeOfTest);
afterAll(async () => {
  await closeOfFile();
  expectRealTimers();
});

/** With a fake clock's timers, the next files of this worker would wait for ever. */
function expectRealTimers(): void {
  for (const [name, real] of Object.entries({ setTimeout, clearTimeout, setInterval, clearInterval })) {
    if (globalThis[name as 'setTimeout'] === real) continue;
    Object.assign(globalThis, { [name]: real });
    throw new Error(
      `This file leaves a changed ${name} to the next ones. End fake timers with vi.useRealTimers().`,
    );
  }
}
