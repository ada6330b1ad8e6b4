import { defineConfig } from 'vitest/config';

/** What measures the memory of a process, or runs several processes that must answer each other soon: nothing else runs beside it. */
const ALONE = [
  '**/memory.test.ts',
  '**/process/{replicas*,workers}.test.ts',
  '**/test/{replicas/*,idempotency/redis}.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: ALONE,
          // More than cores: most of their time is spent waiting.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
