import { expect, test } from 'vitest';
import { OTHER_TEST_CERTIFICATE, TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { findCertificateError } from './trust.ts';

const BROKEN = TEST_CERTIFICATE.replace('MIIBnT', 'MIIBnZ');

test.each([
  ['one certificate', TEST_CERTIFICATE],
  ['several', `${TEST_CERTIFICATE}\n${OTHER_TEST_CERTIFICATE}\n`],
  ['a certificate within the output of a tool', `subject=CN = erp.test\n${TEST_CERTIFICATE}\n---\n`],
  ['other line ends', TEST_CERTIFICATE.replaceAll('\n', '\r\n')],
])('takes %s', (_what, pem) => {
  expect(findCertificateError(pem)).toBeNull();
});

test.each([
  ['nothing', ''],
  ['no PEM', 'erp.example.com'],
  ['half a block', TEST_CERTIFICATE.slice(0, 300)],
  ['half a block behind a whole one', `${TEST_CERTIFICATE}\n${TEST_CERTIFICATE.slice(0, 300)}`],
  ['a block of another kind', TEST_CERTIFICATE.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST')],
])('refuses %s', (_what, pem) => {
  expect(findCertificateError(pem)).toMatch(/must be PEM/);
});

test('the error names the certificate that cannot be read', () => {
  const pem = [TEST_CERTIFICATE, BROKEN, OTHER_TEST_CERTIFICATE].join('\n');
  expect(findCertificateError(pem)).toContain('number 2 of 3');
});

test('refuses a private key', () => {
  expect(findCertificateError(`${TEST_CERTIFICATE}\n${TEST_KEY}`)).toMatch(/private key/);
});
