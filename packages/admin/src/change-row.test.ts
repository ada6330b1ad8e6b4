import type { Change } from '@erp-proxy/stores/ports';
import { expect, test } from 'vitest';
import { changeRow } from './change-row.ts';

/** A row that someone else changes `times` times, each time just before our change. */
function openContested(times: number) {
  let version = 1;
  let left = times;
  const change = async (row: { version: number }): Promise<Change> => {
    if (left-- > 0) version++;
    if (row.version !== version) return 'conflict';
    version++;
    return 'done';
  };
  return { find: async () => ({ version, createdAt: 1000 }), change, readVersion: () => version };
}

test('without a version, retries on the next version, and returns the one it changed', async () => {
  const row = openContested(4);
  expect(await changeRow(row.find, undefined, row.change)).toEqual({ version: 5, createdAt: 1000 });
  expect(row.readVersion()).toBe(6);
});

test('eight concurrent changes all succeed', async () => {
  let version = 1;
  const find = async () => ({ version, createdAt: 1000 });
  const change = async (row: { version: number }): Promise<Change> => {
    if (row.version !== version) return 'conflict';
    version++;
    return 'done';
  };
  await Promise.all(Array.from({ length: 8 }, () => changeRow(find, undefined, change)));
  expect(version).toBe(9);
});

test.each([8, 32])('%d changes succeed that always read the row at the same moment', async (count) => {
  let version = 1;
  let left = count;
  let readers: (() => void)[] = [];
  const find = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    readers.push(resolve);
    letAllRead();
    await promise;
    return { version, createdAt: 1000 };
  };
  /** Answers all readers at once, so that one of them changes the row and all others meet a conflict. */
  const letAllRead = () => {
    if (readers.length < left) return;
    for (const read of readers) read();
    readers = [];
  };
  const change = async (row: { version: number }): Promise<Change> => {
    if (row.version !== version) return 'conflict';
    version++;
    left--;
    return 'done';
  };
  await Promise.all(Array.from({ length: count }, () => changeRow(find, undefined, change)));
  expect(version).toBe(count + 1);
});

test('gives up after repeated conflicts', async () => {
  const row = openContested(Number.POSITIVE_INFINITY);
  await expect(changeRow(row.find, undefined, row.change)).rejects.toMatchObject({
    problem: { status: 409 },
  });
});

test('changes only the given version', async () => {
  const row = openContested(1);
  await expect(changeRow(row.find, { version: 1, createdAt: null }, row.change)).rejects.toMatchObject({
    problem: { status: 412 },
  });
  expect(row.readVersion()).toBe(2);
});

test('changes no row that was created at another time, whatever its version', async () => {
  const row = openContested(0);
  const tag = { version: 1, createdAt: 999 };
  await expect(changeRow(row.find, tag, row.change)).rejects.toMatchObject({
    problem: { status: 412, detail: expect.stringContaining('was removed') },
  });
  expect(row.readVersion()).toBe(1);
  await changeRow(row.find, { ...tag, createdAt: 1000 }, row.change);
  expect(row.readVersion()).toBe(2);
});
