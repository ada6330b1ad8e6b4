import { expect, test } from 'vitest';
import { nameFileVariable, nameVariable, SETTING_NAMES } from './names.ts';

test('derives the variable of a setting from its name', () => {
  expect(nameVariable('http.port')).toBe('ERP_PROXY_HTTP_PORT');
  expect(nameVariable('workers')).toBe('ERP_PROXY_WORKERS');
  expect(nameVariable('http.bodyBytesMax')).toBe('ERP_PROXY_HTTP_BODY_BYTES_MAX');
  expect(nameVariable('upstream.refusedCredentialsTtlMs')).toBe(
    'ERP_PROXY_UPSTREAM_REFUSED_CREDENTIALS_TTL_MS',
  );
  expect(nameFileVariable('keys.hashSecret')).toBe('ERP_PROXY_KEYS_HASH_SECRET_FILE');
});

test('all settings have distinct variables, and a name with at most one group', () => {
  const variables = SETTING_NAMES.flatMap((name) => [nameVariable(name), nameFileVariable(name)]);
  expect(new Set(variables).size).toBe(variables.length);
  for (const name of SETTING_NAMES) expect(name).toMatch(/^([a-z][A-Za-z]*\.)?[a-z][A-Za-z]*$/);
});
