/** Tells an administrator the effect of a draft of a policy. Changes nothing. */
import type { Policy, PolicyCompareInput } from '@erp-proxy/contract';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import type { Admin, AdminDeps } from './admin.ts';
import { createInputError } from './admin-error.ts';
import { comparePolicy } from './compare-policy.ts';
import { toMemberOfKey } from './key-admin.ts';

const DAY_MS = 86_400_000;

export function createPolicyAdmin({
  audit,
  drafts,
  comparisons,
  clock,
  nowMs,
}: AdminDeps): Pick<Admin, 'explainPolicy' | 'comparePolicy'> {
  return {
    explainPolicy: async ({ policy, ...input }) => drafts.explain(readPolicy(policy), input),

    async comparePolicy(input, signal) {
      const policy = readPolicy(input.policy);
      const { check, unchecked } = drafts.checkRecords(policy);
      const range = readRange(input, clock());
      const compared = await comparisons.run(() => comparePolicy(range, { audit, check, nowMs, signal }));
      return { ...compared, unchecked };
    },
  };
}

function readPolicy(given: unknown): Policy | null {
  if (given === null) return null;
  const parsed = parsePolicy(given);
  if ('policy' in parsed) return parsed.policy;
  throw createInputError(parsed.errors.map(toMemberOfKey));
}

function readRange({ client_id, key_id, since: text }: PolicyCompareInput, now: number) {
  const since = text === undefined ? now - DAY_MS : readTime(text);
  if (since === null) throw createInputError([{ path: 'since', message: `is ${TIME_FORM}` }]);
  return {
    since,
    until: now + 1,
    ...(client_id === undefined ? {} : { client_id }),
    ...(key_id === undefined ? {} : { key_id }),
  };
}
