import { defineConfig } from 'vitest/config';

/** What measures the memory of a process runs when nothing else does. */
const MEASURED = '**/memory.test.ts';

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'promises',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [MEASURED],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'memory', include: [MEASURED], maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
