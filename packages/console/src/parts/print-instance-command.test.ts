import { expect, test } from 'vitest';
import { printDoctorCommand, printInstanceCommand } from './print-instance-command.ts';

test('secrets are read from files', () => {
  const printed = printInstanceCommand('add', 'prod', {
    url: 'https://erp.example.com',
    db: 'prod',
    user_id: 2,
    api_key: 'do-not-show',
    protocol: 'auto',
    timeout_ms: null,
    certificates: 'PEM',
    allow_private: false,
  });
  expect(printed).toBe(
    'instances add prod --erp-url https://erp.example.com --db prod --user-id 2 --api-key-file ./odoo.key --certificates-file ./certificates.pem',
  );
});

test('an update removes what is null and false', () => {
  const changes = { timeout_ms: null, allow_private: false, rotate_key: true };
  expect(printInstanceCommand('update', 'prod', changes)).toBe(
    'instances update prod --timeout-ms none --no-allow-private --rotate-key',
  );
});

test('a server that is not stored is checked with its key in a file', () => {
  expect(printDoctorCommand({ url: 'https://erp.example.com/a b', db: 'prod', user_id: 2 })).toBe(
    "doctor 'https://erp.example.com/a b' --db prod --user-id 2 --api-key-file ./odoo.key",
  );
});
