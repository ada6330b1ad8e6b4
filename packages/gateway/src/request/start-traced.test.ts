import { expect, test } from 'vitest';
import { findTraceId, readTraceparent } from './start-traced.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const VALID = `00-${TRACE}-00f067aa0ba902b7-01`;

test('reads the id of the trace, also of a later version with more members', () => {
  expect(readTraceparent(VALID)).toBe(VALID);
  expect(findTraceId(VALID)).toBe(TRACE);
  expect(readTraceparent(`cc-${TRACE}-00f067aa0ba902b7-01-more`)).toBe(`cc-${TRACE}-00f067aa0ba902b7-01`);
});

test.each([
  undefined,
  '',
  'x',
  VALID.toUpperCase(),
  `${VALID}-more`,
  `${VALID}x`,
  ` ${VALID}`,
  `${VALID}\r\nx: y`,
  VALID.replace('00-', 'ff-'),
  VALID.replace(TRACE, '0'.repeat(32)),
  VALID.replace('00f067aa0ba902b7', '0'.repeat(16)),
  `${VALID}, ${VALID}`,
  `cc-${TRACE}-00f067aa0ba902b7-01x`,
])('ignores %j', (text) => {
  expect(readTraceparent(text)).toBeNull();
});
