import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/**
 * Four projects, which run one after the other. The name of a test file says where it belongs:
 *
 * - `*.test.ts`: `most`
 * - `*.heavy.test.ts`: `heavy`, for tests that start several programs or a browser, or flood the proxy
 * - `memory.heavy.test.ts`: `memory`, for tests that measure the memory of a process
 * - `*.blocking.test.ts`: `blocking`, for tests that measure how long work keeps the event loop, or others waiting
 */
const ALL = 'packages/*/{src,test}/**/*.test.ts';
const HEAVY = 'packages/*/{src,test}/**/*.heavy.test.ts';
const MEMORY = 'packages/*/{src,test}/**/memory.heavy.test.ts';
const BLOCKING = 'packages/*/{src,test}/**/*.blocking.test.ts';
const BUNDLE = 'packages/server/test/process/bundle-for-tests.ts';

/** A project. `workers` is more than the cores where tests spend most of their time waiting. */
function describeProject(
  name: string,
  order: number,
  workers: number,
  include: string,
  { exclude = [], globalSetup = [] }: { exclude?: string[]; globalSetup?: string[] } = {},
) {
  return {
    extends: true as const,
    test: {
      name,
      include: [include],
      exclude: [...configDefaults.exclude, ...exclude],
      globalSetup,
      maxWorkers: workers,
      sequence: { groupOrder: order },
    },
  };
}

export default defineConfig({
  test: {
    globalSetup: 'packages/console/test/build-page.ts',
    setupFiles: 'packages/server/test/setup.ts',
    // Node runs the sources itself, as it does for users. Files of one worker share its loaded and compiled modules,
    // which halves the time of a whole run.
    experimental: { viteModuleRunner: false },
    isolate: false,
    // Threads, and processes that inherit the environment, find the sources compiled, which halves the time of a start.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node-compile-cache') },
    // These end a test that hangs. They are no promise about time, and long enough for a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 100_000, interval: 20 } },
    projects: [
      describeProject('most', 1, 4, ALL, { exclude: [HEAVY, BLOCKING] }),
      describeProject('heavy', 2, 6, HEAVY, { exclude: [MEMORY], globalSetup: [BUNDLE] }),
      describeProject('memory', 3, 3, MEMORY, { globalSetup: [BUNDLE] }),
      describeProject('blocking', 4, 1, BLOCKING),
    ],
  },
});
