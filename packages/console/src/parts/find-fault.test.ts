import { expect, test } from 'vitest';
import { ProblemError } from '../api/send.ts';
import { findFault } from './find-fault.ts';

const ERROR = new ProblemError(
  {
    type: 'about:blank',
    title: 'Bad Request',
    status: 400,
    detail: '3 values cannot be taken.',
    faults: [
      { path: 'url', message: 'must be https' },
      { path: 'fields[2]', message: 'must be a name' },
      { path: 'url_pattern', message: 'is not known' },
    ],
  },
  null,
);

test('a member has its own faults and those within it', () => {
  expect(findFault(ERROR, 'url')).toBe('It must be https.');
  expect(findFault(ERROR, 'fields')).toBe('fields[2] must be a name.');
  expect(findFault(ERROR, 'name')).toBeUndefined();
  expect(findFault(new TypeError('no answer'), 'url')).toBeUndefined();
});
