/** Rewrites errors of the admin service with the options of a command instead of the members of the API. */
import { AdminError } from '../admin/admin-error.ts';
import { MEMBERS } from '../instances/members.ts';

/** Options whose names differ from their members by more than dashes. */
const OPTIONS: Readonly<Record<string, string>> = {
  name: '<name>',
  url: '--erp-url',
  api_key: '--api-key-file',
  certificates: '--certificates-file',
};
const NAMED: ReadonlySet<string> = new Set([
  ...Object.keys(OPTIONS),
  ...Object.keys(MEMBERS),
  'login',
  'key_expires_at',
]);

/** For `catch`: throws the error about an instance's members with the names of the command's options. */
export function explainByOptions(error: unknown): never {
  if (!(error instanceof AdminError) || error.problem.faults === undefined) throw error;
  const invalid = error.problem.faults.map(({ path, message }) => ({
    path: nameOption(path),
    message: message
      .replace(/`(\w+)`/g, (_quoted, member: string) => `\`${nameOption(member)}\``)
      .replace(/\bnull$/, 'none'),
  }));
  throw new AdminError({ ...error.problem, faults: invalid }, { cause: error });
}

function nameOption(member: string): string {
  if (!NAMED.has(member)) return member;
  return OPTIONS[member] ?? `--${member.replaceAll('_', '-')}`;
}
