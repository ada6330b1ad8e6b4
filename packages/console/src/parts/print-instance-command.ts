/** Prints the commands that do what pages do with instances. Pure. */
import {
  INSTANCE_DEFAULTS,
  INSTANCE_OPTIONS,
  type InstanceChanges,
  type InstanceInput,
} from '@erp-proxy/contract';
import { printMembers, printOptions, quoteIfNeeded } from './print-options.ts';

/** The Odoo key and certificates are read from files: they are in no command. */
export function printInstanceCommand(
  command: 'add' | 'update',
  name: string,
  members: InstanceChanges,
): string {
  const options = printMembers(command, members, INSTANCE_OPTIONS, INSTANCE_DEFAULTS);
  return `instances ${command} ${quoteIfNeeded(name === '' ? 'prod' : name)}${options}`;
}

/** The check of a server that is not stored. */
export function printDoctorCommand({
  url,
  db,
  user_id,
}: Pick<InstanceInput, 'url' | 'db' | 'user_id'>): string {
  const options = printOptions({ db, 'user-id': user_id, 'api-key-file': './odoo.key' });
  return `doctor ${quoteIfNeeded(url === '' ? 'https://erp.example.com' : url)}${options}`;
}
