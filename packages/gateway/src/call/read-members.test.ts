import { expect, test } from 'vitest';
import { Denial } from '../terms/denial.ts';
import { readBaseUrl } from './read-members.ts';

test('reads the parts of an address', () => {
  expect(readBaseUrl('https://erp.example.com/odoo/')).toEqual({
    origin: 'https://erp.example.com',
    pathPrefix: '/odoo',
  });
});

test('refuses an invalid base address, and names the member', () => {
  const denial = readBaseUrl('https://user:secret@erp.example.com');
  expect(denial).toBeInstanceOf(Denial);
  expect(denial).toMatchObject({ type: 'invalid_request', more: { path: 'erp_instance.url' } });
  expect(String(denial)).not.toContain('secret');
});

test('reads as many different addresses as callers send, each as its own', () => {
  for (const round of ['first', 'second']) {
    for (let index = 0; index < 1500; index++) {
      const address = readBaseUrl(`https://erp${index}.example.com/${index % 2 === 0 ? 'a' : 'b'}`);
      expect(address, round).toEqual({
        origin: `https://erp${index}.example.com`,
        pathPrefix: index % 2 === 0 ? '/a' : '/b',
      });
    }
  }
});
