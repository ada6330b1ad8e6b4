/** Prints the commands that correspond to the pages of keys. Pure. */
import type { KeyInput } from '@erp-proxy/contract';
import { printOptions } from './print-options.ts';

/** The command reads the policy from standard input. */
export function printKeyCommand(
  command: string,
  { policy, expires_at, for: person, ...members }: Partial<KeyInput>,
  now: number,
) {
  const end = expires_at === undefined ? undefined : printDuration(expires_at, now);
  const options = printOptions({
    ...members,
    for: person ?? undefined,
    'expires-in': end,
    policy: policy == null ? undefined : '-',
    'no-policy': policy === null && command !== 'keys create',
  });
  const input = policy == null ? '' : ` <<'END'\n${JSON.stringify(policy, null, 2)}\nEND`;
  return `${command}${options}${input}`;
}

const HOUR_MS = 3_600_000;

function printDuration(at: string | null, now: number): string {
  if (at === null) return 'never';
  return `${Math.max(1, Math.round((Date.parse(at) - now) / HOUR_MS))}h`;
}
