import { expect, test } from 'vitest';
import { printTraceUrl } from './trace-url.ts';

test.each([
  ['https://traces.example.com/t/{trace_id}?view=full', 'https://traces.example.com/t/ab%2F1?view=full'],
  ['https://traces.example.com/', null],
  ['javascript:alert("{trace_id}")', null],
  ['', null],
])('template %s', (template, address) => {
  expect(printTraceUrl(template, 'ab/1')).toBe(address);
});
