/** Every row of the error table is provoked by the test file named after its status, or says why it cannot be yet. */
import { readFile } from 'node:fs/promises';
import { PROXY_ERRORS, type ProxyErrorType } from '@erp-proxy/contract';
import { describe, expect, it } from 'vitest';

/** Nothing gives these today. */
const NOT_YET: Partial<Record<ProxyErrorType, string>> = {
  policy_denied: 'keys have no policies yet',
  idempotency_conflict: 'idempotency keys are not read yet',
  outcome_unknown: 'idempotency keys are not read yet',
};

const entries = Object.entries(PROXY_ERRORS) as [ProxyErrorType, (typeof PROXY_ERRORS)[ProxyErrorType]][];
const readTests = (status: number) =>
  readFile(new URL(`./${status}.test.ts`, import.meta.url), 'utf8').catch(() => '');

describe.each(entries.filter(([type]) => !(type in NOT_YET)))('%s', (type, { httpStatus, code }) => {
  it(`is provoked in ${httpStatus}.test.ts, with its code`, async () => {
    const text = await readTests(httpStatus);
    const near = new RegExp(`code: ${code},[^}]{0,80}type: '${type}'`);
    expect(text).toMatch(near);
  });
});

describe.each(entries.filter(([type]) => type in NOT_YET))('%s', (type, { httpStatus }) => {
  it(`cannot occur: ${NOT_YET[type]}`, async () => {
    expect(await readTests(httpStatus)).not.toContain(`'${type}'`);
  });
});
