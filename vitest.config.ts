import { defineConfig } from 'vitest/config';

/**
 * What floods the proxy, kills or stops processes, or needs several of them to answer each other soon. Beside many other
 * tests these would be late, and make the others late. Also what takes long by the number of its cases: `npm test` takes
 * less than five minutes.
 */
const HEAVY = [
  '**/process/{admin-commands,assembly,audit-kill,chaos,commands,file-descriptors,first-start,idempotency-kill,launcher,many-keys,mcp-clients,openapi-clients,package,readme,replicas*,serve,sqlite-lock,unusable-store,waiting-calls,workers}.test.ts',
  '**/test/{replicas/*,idempotency/redis,key-rotation/crash}.test.ts',
  '**/protection/{gauges.properties,hostile-connections.properties,hung-odoo,overload,shares}.test.ts',
  '**/export/{fairness,flow,hostile-odoo}.test.ts',
  '**/security/{hostile-connections,hostile-requests}.test.ts',
  '**/redis/overshoot.test.ts',
  '**/large-bodies/large-bodies.test.ts',
  '**/commands/{address-with-path,types}.test.ts',
  '**/test/examples/{programs,search-index,snippets}.test.ts',
  '**/stream/{deadline,upstream-encoding}.test.ts',
  '**/client/test/runtimes.test.ts',
  '**/console/test/{approvals,calls,every-page,instances,keys,loading,overview,playground,session,start,subscriptions}.test.ts',
  '**/stores/postgres/hanging.test.ts',
  '**/stores/sqlite/{store,thread}.test.ts',
  '**/policies/{fields,interference}.properties.test.ts',
  '**/protocols/matrix.test.ts',
  '**/http/connection/connection-listener.test.ts',
  '**/mcp/stdio.test.ts',
  '**/sandbox/test/large-table.test.ts',
];
/** What measures the memory of a process: nothing else runs beside it. */
const MEMORY = ['**/memory.test.ts'];

export default defineConfig({
  test: {
    testTimeout: 20_000,
    hookTimeout: 20_000,
    globalSetup: 'packages/console/test/build-page.ts',
    // Vitest's own second is too short for a busy machine.
    expect: { poll: { timeout: 10_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'most',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...HEAVY, ...MEMORY],
          // More than cores: most of their time is spent waiting.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'heavy', include: HEAVY, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: { name: 'memory', include: MEMORY, maxWorkers: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
});
