import { BUSINESS_ERRORS, COMPATIBLE_ERRORS, PROXY_ERRORS } from '@erp-proxy/contract';
import { expect, test } from 'vitest';
import { colorOutcome } from './outcome-colors.ts';

test('no error has the colour of success', () => {
  const errors = Object.keys({ ...PROXY_ERRORS, ...BUSINESS_ERRORS, ...COMPATIBLE_ERRORS });
  expect(errors.filter((type) => /^(teal|green|lime)/.test(colorOutcome(type)))).toEqual([]);
});
