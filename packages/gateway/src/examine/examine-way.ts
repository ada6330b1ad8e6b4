/** Derives the checks of DNS, egress, connection and TLS from the failure of a request. */
import type { ExaminationCheck } from '@erp-proxy/contract';
import type { EgressFailure } from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';
import { fail } from './explain-answer.ts';

/** `failure`: null if the server has answered. */
export function examineWay(
  failure: Pick<EgressFailure, 'reason' | 'detail'> | null,
  origin: string,
  allow: readonly string[],
): ExaminationCheck[] {
  const passed = listPassed(origin);
  if (failure === null) return passed;
  const count = PASSED_BEFORE.get(failure.reason) ?? passed.length;
  return [...passed.slice(0, count), explainFailure(failure, origin, allow)];
}

const PASSED_BEFORE = new Map<EgressFailure['reason'], number>([
  ['unresolved', 0],
  ['denied', 1],
  ['refused', 2],
  ['exhausted', 2],
  ['connect_timeout', 2],
  ['tls', 3],
]);

/** The checks that an answered request has passed. */
function listPassed(origin: string): ExaminationCheck[] {
  const isSecure = origin.startsWith('https:');
  return [
    { name: 'dns', state: 'ok', text: 'the host has an address' },
    { name: 'egress', state: 'ok', text: 'the address is allowed' },
    { name: 'connection', state: 'ok', text: 'the server accepts connections' },
    isSecure
      ? { name: 'tls', state: 'ok', text: 'the certificate is valid' }
      : { name: 'tls', state: 'skipped', text: 'plain http: keys travel unencrypted' },
  ];
}

function explainFailure(
  { reason, detail }: Pick<EgressFailure, 'reason' | 'detail'>,
  origin: string,
  allow: readonly string[],
): ExaminationCheck {
  switch (reason) {
    case 'denied':
      return fail('egress', detail + suggestEntry(origin, allow));
    case 'unresolved':
      return fail('dns', `the host has no address (${detail}); check its spelling`);
    case 'refused':
      return fail('connection', `refused (${detail}); check host and port, and that Odoo runs`);
    case 'exhausted':
      return fail(
        'connection',
        `the proxy has none left (${detail}); raise its limit of file descriptors, or with EADDRNOTAVAIL the range of local ports`,
      );
    case 'connect_timeout':
      return fail(
        'connection',
        `not made in time (${detail}); check firewalls, or raise upstream.connectTimeoutMs`,
      );
    case 'tls':
      return fail(
        'tls',
        /certificate/.test(detail)
          ? `${detail}; check the certificate, or trust one of your own with --certificates-file`
          : `${detail}; check the certificate, or whether the server speaks plain http`,
      );
    case 'aborted':
    case 'first_byte_timeout':
      return fail(
        'odoo',
        'no answer in time; check that Odoo is not overloaded, or raise upstream.timeoutMs',
      );
    default:
      return fail('odoo', `no answer (${detail})`);
  }
}

/**
 * Suggests a setting that allows the origin. Empty if an entry for the origin would not be sufficient: the address of
 * cloud metadata, for example, needs its own entry.
 */
function suggestEntry(origin: string, allow: readonly string[]): string {
  const helps = !allow.includes(origin) && parseEgressPolicy([origin]).errors.length === 0;
  return helps ? `. Where you trust it: --egress.allow ${origin}` : '';
}
