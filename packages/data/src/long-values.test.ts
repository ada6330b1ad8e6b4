import { expect, test } from 'vitest';
import { findEnd, listMembers } from './long-values.ts';

const MIB = 1024 * 1024;

test('short values need no promise', () => {
  const bytes = Buffer.from(`[{"a": 1}, "${'x'.repeat(MIB)}"]`);
  expect(findEnd(bytes, 1)).toBe(9);
  expect(listMembers(bytes, { kind: 'object', start: 1, end: 9 })).toHaveLength(1);
});
