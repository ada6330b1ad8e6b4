/** Rewrites errors of the admin service with the options of a command instead of the members of the API. */
import { INSTANCE_OPTIONS, nameOption } from '@erp-proxy/contract';
import { INSTANCE_INPUT } from '@erp-proxy/contract/admin';
import { AdminError } from '../admin/admin-error.ts';

const NAMED: ReadonlySet<string> = new Set([...Object.keys(INSTANCE_INPUT), 'login']);

/** For use in `catch`: rethrows an error about an instance's members with the names of the command's options. */
export function explainByOptions(error: unknown): never {
  if (!(error instanceof AdminError) || error.problem.faults === undefined) throw error;
  const invalid = error.problem.faults.map(({ path, message }) => ({
    path: show(path),
    message: message
      .replace(/`(\w+)`/g, (_quoted, member: string) => `\`${show(member)}\``)
      .replace(/\bnull$/, 'none'),
  }));
  throw new AdminError({ ...error.problem, faults: invalid }, { cause: error });
}

function show(member: string): string {
  if (member === 'name') return '<name>';
  return NAMED.has(member) ? `--${nameOption(member, INSTANCE_OPTIONS)}` : member;
}
