import { expect, it } from 'vitest';
import { readBaseUrl } from './base-url.ts';
import { Denial } from './denial.ts';

it.each([
  ['https://erp.example.com', 'https://erp.example.com', ''],
  ['https://erp.example.com/', 'https://erp.example.com', ''],
  ['https://erp.example.com//', 'https://erp.example.com', ''],
  ['https://ERP.example.com:443', 'https://erp.example.com', ''],
  ['http://localhost:8069/odoo/prod/', 'http://localhost:8069', '/odoo/prod'],
  ['https://erp.example.com/a/../b', 'https://erp.example.com', '/b'],
  ['https://[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', ''],
  ['https://erp.example.com/@shop', 'https://erp.example.com', '/@shop'],
])('reads %s', (text, origin, pathPrefix) => {
  expect(readBaseUrl(text)).toEqual({ origin, pathPrefix });
});

it.each([
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
])('refuses %j and names the member', (text) => {
  const denial = readBaseUrl(text);
  expect(denial).toBeInstanceOf(Denial);
  expect((denial as Denial).type).toBe('invalid_request');
  expect((denial as Denial).more.path).toBe('erp_instance.url');
  expect((denial as Denial).message).not.toContain('secret');
});
