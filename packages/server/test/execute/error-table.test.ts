/** Checks that every row of the error table is tested in the file named after its status. */
import { readFile } from 'node:fs/promises';
import { type ErrorRow, PROXY_ERRORS, type ProxyErrorType } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';

const entries = Object.entries(PROXY_ERRORS) as [ProxyErrorType, ErrorRow][];
const readTests = (status: number) =>
  readFile(new URL(`./${status}.test.ts`, import.meta.url), 'utf8').catch(() => '');

describe.each(entries)('%s', (type, { httpStatus, code }) => {
  test(`is tested in ${httpStatus}.test.ts, with its code`, async () => {
    const text = await readTests(httpStatus);
    const near = new RegExp(`code: ${code},[^}]{0,80}type: '${type}'`);
    expect(text).toMatch(near);
  });
});
