import { expect, test } from 'vitest';
import { parseBaseUrl } from './base-url.ts';

test.each([
  ['https://erp.example.com', 'https://erp.example.com', ''],
  ['https://erp.example.com/', 'https://erp.example.com', ''],
  ['https://erp.example.com//', 'https://erp.example.com', ''],
  ['https://ERP.example.com:443', 'https://erp.example.com', ''],
  ['http://localhost:8069/odoo/prod/', 'http://localhost:8069', '/odoo/prod'],
  ['https://erp.example.com/a/../b', 'https://erp.example.com', '/b'],
  ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', ''],
  ['https://erp.example.com/@shop', 'https://erp.example.com', '/@shop'],
])('reads %s', (text, origin, pathPrefix) => {
  expect(parseBaseUrl(text)).toEqual({ origin, pathPrefix });
});

test.each([
  'erp.example.com',
  'ftp://erp.example.com',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:erp.example.com',
  'https:///erp.example.com',
  'https://',
  'https://user@erp.example.com',
  'https://user:secret@erp.example.com',
  'https://@erp.example.com',
  'https://:@erp.example.com',
  'https://erp.example.com?',
  'https://erp.example.com/?db=prod',
  'https://erp.example.com/#',
  'https://erp.example.com\\@evil.example',
  'https://erp.example.com/\n',
  ' https://erp.example.com',
  'https://erp.exa\tmple.com',
  'https://erp.example.com:99999',
  'https://erp example.com',
])('refuses %j and does not quote it', (text) => {
  const refused = parseBaseUrl(text);
  expect(refused).toEqual({ problem: expect.stringMatching(/^(must|is) /) });
  expect(JSON.stringify(refused)).not.toContain('secret');
});
