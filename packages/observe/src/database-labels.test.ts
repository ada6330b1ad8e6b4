import { describe, expect, test } from 'vitest';
import { DatabaseLabels, type DatabaseMetrics } from './database-labels.ts';

const HOUR_MS = 3_600_000;
const state = (database: string, changes: Partial<DatabaseMetrics> = {}): DatabaseMetrics => ({
  database,
  running: 0,
  waiting: 0,
  backgroundRunning: 0,
  backgroundWaiting: 0,
  limit: 8,
  breaker: 'closed',
  ...changes,
});
const down = (database: string) => state(database, { breaker: 'open' });

function createLabels() {
  const clock = { ms: 0 };
  return { clock, labels: new DatabaseLabels(() => clock.ms) };
}

/** The label as one text; null if the database is not shown. */
function findName(labels: DatabaseLabels, metrics: DatabaseMetrics): string | null {
  const label = labels.find(metrics);
  return label && `${label.upstream} ${label.db}`;
}

describe('a database without a successful call', () => {
  test.each([
    ['runs calls', { running: 1 }],
    ['has waiting calls', { waiting: 1 }],
    ['has an open circuit breaker', { breaker: 'open' }],
    ['is being probed', { breaker: 'half_open' }],
  ] as const)('is named while it %s', (_what, changes) => {
    expect(findName(createLabels().labels, state('http://a prod', changes))).toBe('http://a prod');
  });

  test('is not named while it is idle', () => {
    expect(findName(createLabels().labels, state('http://a prod'))).toBeNull();
  });

  test('shares one series beyond 20 others, until one of them was not shown for an hour', () => {
    const { clock, labels } = createLabels();
    for (let n = 0; n < 20; n++)
      expect(findName(labels, down(`http://${n} made_up`))).toBe(`http://${n} made_up`);
    expect(findName(labels, down('http://more made_up'))).toBe('other other');
    clock.ms = HOUR_MS - 1;
    for (let n = 1; n < 20; n++) findName(labels, down(`http://${n} made_up`));
    expect(findName(labels, down('http://more made_up'))).toBe('other other');
    clock.ms = HOUR_MS;
    expect(findName(labels, down('http://more made_up'))).toBe('http://more made_up');
    expect(findName(labels, down('http://0 made_up'))).toBe('other other');
  });

  test('gets at most 20 new names an hour, whatever databases callers make up', () => {
    const { clock, labels } = createLabels();
    const named = new Set<string | null>();
    for (let call = 0; call < 24 * 600; call++) {
      clock.ms = call * (HOUR_MS / 600);
      named.add(findName(labels, down(`http://${call} made_up`)));
    }
    expect(named.size).toBeLessThanOrEqual(24 * 20 + 1);
  });
});

test('a database that has earned its name keeps it, whatever databases callers make up', () => {
  const { labels } = createLabels();
  for (let n = 0; n < 50; n++) findName(labels, down(`http://${n} made_up`));
  labels.earn('http://a prod');
  expect(findName(labels, state('http://a prod'))).toBe('http://a prod');
});

test('at most a hundred databases earn a name', () => {
  const { labels } = createLabels();
  for (let n = 0; n < 150; n++) labels.earn(`http://${n} prod`);
  expect(findName(labels, state('http://99 prod'))).toBe('http://99 prod');
  expect(findName(labels, state('http://100 prod'))).toBeNull();
});

test('a database has one name, whatever certificates its calls trust', () => {
  const { labels } = createLabels();
  labels.earn('http://a prod');
  expect(findName(labels, state('http://a abc123 prod'))).toBe('http://a prod');
});
