import { describe, expect, test } from 'vitest';
import { createTestLimiters } from './database-limiters.fixture.ts';

describe('bounds that several processes share', () => {
  test('are divided by the current number of processes, with at least one call each', () => {
    let processes = 4;
    const { databaseLimiters, acquire } = createTestLimiters({
      concurrency: { initial: 8, min: 8, max: 8 },
      queueMax: 6,
      processes: () => processes,
    });
    const countRunning = () => databaseLimiters.states()[0]?.running;
    for (let call = 0; call < 3; call++) acquire();
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 1, limit: 2 }]);
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
    processes = 2;
    expect(acquire()).toBeInstanceOf(Promise);
    expect(databaseLimiters.states()).toMatchObject([{ running: 4, waiting: 0, limit: 4 }]);
    processes = 100;
    expect(acquire()).toBeInstanceOf(Promise);
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
    expect(countRunning()).toBe(4);
    expect(databaseLimiters.states()).toMatchObject([{ limit: 1 }]);
  });

  test('include the bound of an instance and the initial concurrency limit', () => {
    const { databaseLimiters, acquire } = createTestLimiters({
      concurrency: { initial: 8, min: 2, max: 64 },
      processes: () => 2,
    });
    for (let call = 0; call < 3; call++) acquire({ bound: { instance: 'i', max: 4 } });
    expect(databaseLimiters.states()).toMatchObject([{ running: 2, waiting: 1, limit: 4 }]);
    const alone = createTestLimiters({ processes: () => 8 });
    for (let call = 0; call < 3; call++) alone.acquire({ bound: { instance: 'i', max: 4 } });
    expect(alone.databaseLimiters.states()).toMatchObject([{ running: 1, waiting: 2 }]);
  });

  test('a queue of size 0 remains empty', () => {
    const { acquire } = createTestLimiters({ queueMax: 0, processes: () => 2 });
    acquire();
    expect(acquire()).toMatchObject({ refused: 'queue_full' });
  });
});
