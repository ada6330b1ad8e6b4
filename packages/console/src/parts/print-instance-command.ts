/** Prints the commands that correspond to the pages of instances. Pure. */
import type { InstanceChanges, InstanceInput } from '@erp-proxy/contract';
import { printOptions, quoteIfNeeded } from './print-options.ts';

/** The command reads the Odoo key and certificates from files, so they are not part of it. */
export function printInstanceCommand(
  command: 'add' | 'update',
  name: string,
  members: InstanceChanges,
): string {
  const { url, db, user_id, api_key, protocol, timeout_ms, concurrency, certificates } = members;
  const { allow_private, rotate_key, key_expires_at } = members;
  const isAdded = command === 'add';
  const options = printOptions({
    'erp-url': url,
    db,
    'user-id': user_id,
    'api-key-file': api_key === undefined ? undefined : './odoo.key',
    protocol: isAdded && protocol === 'auto' ? undefined : protocol,
    'timeout-ms': printNone(timeout_ms, isAdded),
    concurrency: printNone(concurrency, isAdded),
    'certificates-file':
      typeof certificates === 'string' ? './certificates.pem' : printNone(certificates, isAdded),
    'allow-private': allow_private,
    'no-allow-private': !isAdded && allow_private === false,
    'rotate-key': rotate_key,
    'no-rotate-key': !isAdded && rotate_key === false,
    'key-expires-at': printNone(key_expires_at, isAdded),
  });
  return `instances ${command} ${quoteIfNeeded(name === '' ? 'prod' : name)}${options}`;
}

/** Prints the command that checks a server that is not stored. */
export function printDoctorCommand({
  url,
  db,
  user_id,
}: Pick<InstanceInput, 'url' | 'db' | 'user_id'>): string {
  const options = printOptions({ db, 'user-id': user_id, 'api-key-file': './odoo.key' });
  return `doctor ${quoteIfNeeded(url === '' ? 'https://erp.example.com' : url)}${options}`;
}

/** Prints `none` to remove a value; a new instance has none to remove. */
function printNone(value: number | string | null | undefined, isAdded: boolean): string | undefined {
  if (value === null) return isAdded ? undefined : 'none';
  return value === undefined ? undefined : String(value);
}
