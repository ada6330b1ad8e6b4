import { expect, test } from 'vitest';
import { type Credentials, createCredentialNames } from './resolve.ts';

const nameCredentials = createCredentialNames(Buffer.alloc(32, 1));

const credentials: Credentials = {
  origin: 'https://erp.example.com',
  pathPrefix: '',
  db: 'prod',
  userId: 2,
  apiKey: 'a-secret-of-the-caller',
  trust: null,
  person: null,
};

test('gives equal credentials equal identifiers, and different credentials different ones', () => {
  const others = [
    { origin: 'https://erp.example.org' },
    { pathPrefix: '/erp' },
    { db: 'prod2' },
    { userId: 3 },
    { apiKey: 'another' },
    { trust: { id: 'pinned' } },
    // Two members must not be confused with each other.
    { pathPrefix: 'prod', db: '' },
  ].map((change) => nameCredentials({ ...credentials, ...change }));
  expect(nameCredentials({ ...credentials })).toBe(nameCredentials(credentials));
  expect(new Set([nameCredentials(credentials), ...others]).size).toBe(others.length + 1);
});

test('contains no credential', () => {
  const name = nameCredentials(credentials);
  expect(name).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(name, 'base64').toString('latin1')).not.toContain('secret');
});

test('gives equal identifiers on all replicas of a deployment, and others in other deployments', () => {
  const [here, elsewhere] = [1, 2].map((byte) => createCredentialNames(Buffer.alloc(32, byte)));
  expect(here?.(credentials)).toBe(nameCredentials(credentials));
  expect(elsewhere?.(credentials)).not.toBe(nameCredentials(credentials));
});
