import { defineConfig } from 'vitest/config';

/** Several processes, or a Redis of their own, that must answer each other soon: beside many others they would be late. */
const PROCESSES = [
  '**/process/{replicas*,workers}.test.ts',
  '**/test/{replicas/*,idempotency/redis}.test.ts',
];
/** What measures the memory of a process: nothing else runs beside it. */
const MEMORY = ['**/memory.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'most',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...PROCESSES, ...MEMORY],
          // More than cores: most of their time is spent waiting.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'processes', include: PROCESSES, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: 'memory', include: MEMORY, maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
