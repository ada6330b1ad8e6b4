/** Refusals of the service of administration, by the options that people give to commands in place of its members. */
import { AdminError } from '../admin/admin-error.ts';

/** The options of members whose names differ by more than dashes. */
const OPTIONS: Readonly<Record<string, string>> = {
  name: '<name>',
  url: '--erp-url',
  api_key: '--api-key-file',
  certificates: '--certificates-file',
};
const MEMBERS: ReadonlySet<string> = new Set([
  ...Object.keys(OPTIONS),
  'db',
  'user_id',
  'protocol',
  'timeout_ms',
  'concurrency',
  'allow_private',
  'rotate_key',
  'key_expires_at',
]);

/** For `catch`: throws the refusal of an instance's members with the names that the command has for them. */
export function explainByOptions(error: unknown): never {
  if (!(error instanceof AdminError) || error.problem.faults === undefined) throw error;
  const faults = error.problem.faults.map(({ path, message }) => ({
    path: nameOption(path),
    message: message
      .replace(/`(\w+)`/g, (_quoted, member: string) => `\`${nameOption(member)}\``)
      .replace(/\bnull$/, 'none'),
  }));
  throw new AdminError({ ...error.problem, faults }, { cause: error });
}

function nameOption(member: string): string {
  if (!MEMBERS.has(member)) return member;
  return OPTIONS[member] ?? `--${member.replaceAll('_', '-')}`;
}
