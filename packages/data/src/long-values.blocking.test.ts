import { expect, test } from 'vitest';
import { BLOCKED_MS_MAX, measureBlocking } from '../../server/test/measure-blocking.ts';
import { findEnd, listMembers } from './long-values.ts';

const MIB = 1024 * 1024;

test.each([
  ['a list of texts', `[${'"a", '.repeat((16 * MIB) / 5)}1]`],
  ['quotes', `"${'\\"'.repeat(8 * MIB)}"`],
  ['backslashes', `"${'\\\\'.repeat(8 * MIB)}"`],
  ['a plain text', `"${'x'.repeat(16 * MIB)}"`],
])('a record of 16 MiB of %s does not keep the event loop', async (_name, value) => {
  const bytes = Buffer.from(`[{"id": 1, "a": ${value}, "b": 2}]`);
  const record = { kind: 'object', start: 1, end: bytes.length - 1 } as const;
  const split = async () => {
    expect(await findEnd(bytes, record.start)).toBe(record.end);
    const members = await listMembers(bytes, record);
    expect(members.map(({ name }) => name)).toEqual(['id', 'a', 'b']);
  };
  expect(await measureBlocking(split)).toBeLessThan(BLOCKED_MS_MAX);
});
