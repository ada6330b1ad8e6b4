import { BUSINESS_ERRORS, COMPATIBLE_ERRORS, PROXY_ERRORS } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { explainOutcome, splitCode } from './explain-outcome.ts';

test.each([...Object.keys(PROXY_ERRORS), ...Object.keys(BUSINESS_ERRORS), ...Object.keys(COMPATIBLE_ERRORS)])(
  'explains %s without the marks of a page',
  (outcome) => {
    const explanation = explainOutcome(outcome);
    expect(explanation?.meaning).toMatch(/\w{3}/);
    expect(`${explanation?.meaning} ${explanation?.remedy}`).not.toMatch(/\]\(|\.md/);
  },
);

test('says nothing about what it does not know', () => {
  for (const outcome of ['ok', 'of_another_release', 'constructor'])
    expect(explainOutcome(outcome)).toBeNull();
});

test('tells code from words', () => {
  expect(splitCode('Send `a` again. `b`')).toEqual([
    { text: 'Send ', isCode: false },
    { text: 'a', isCode: true },
    { text: ' again. ', isCode: false },
    { text: 'b', isCode: true },
  ]);
});
