/** Prints the commands that do what pages do with instances. Pure. */
import {
  INSTANCE_DEFAULTS,
  INSTANCE_OPTIONS,
  type InstanceChanges,
  type InstanceInput,
} from '@erp-proxy/contract';
import { printMembers, printOptions, quoteIfNeeded } from './print-options.ts';

/** The command reads the Odoo key and certificates from files, so they are not part of it. */
export function printInstanceCommand(
  command: 'add' | 'update',
  name: string,
  members: InstanceChanges,
): string {
  const options = printMembers(command, members, INSTANCE_OPTIONS, INSTANCE_DEFAULTS);
  return `instances ${command} ${quoteIfNeeded(name === '' ? 'prod' : name)}${options}`;
}

/** Prints the command that checks a server that is not stored. */
export function printDoctorCommand({
  url,
  db,
  user_id,
}: Pick<InstanceInput, 'url' | 'db' | 'user_id'>): string {
  const options = printOptions({ db, 'user-id': user_id ?? undefined, 'api-key-file': './odoo.key' });
  return `doctor ${quoteIfNeeded(url === '' ? 'https://erp.example.com' : url)}${options}`;
}
