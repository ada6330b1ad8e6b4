/** Tells an administrator the effect of a draft of a policy. Changes nothing. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  AuditQuery,
  AuditView,
  ComparedCalls,
  Policy,
  PolicyCompareInput,
  PolicyComparison,
} from '@erp-proxy/contract';
import type { Audit } from '@erp-proxy/control/audit';
import { PROXY_CLIENT } from '@erp-proxy/control/keys';
import { parsePolicy } from '@erp-proxy/policy/parse';
import { readTime, TIME_FORM } from '@erp-proxy/text';
import type { Admin, AdminDeps, RecordCheck } from './admin.ts';
import { createInputError } from './admin-error.ts';
import { toMemberOfKey } from './key-admin.ts';
import { showTime } from './time.ts';

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

const PAGE_RECORDS = 200;
const CALLS_MAX = 100_000;
const DURATION_MS_MAX = 10_000;
/** Longest work without a pause. */
const SLICE_MS = 5;
/** Bounded, because callers choose the names in calls. */
const GROUPS_MAX = 1000;
const EXAMPLES_MAX = 3;

export interface ComparePolicyDeps {
  audit: Pick<Audit, 'search'>;
  check: RecordCheck;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
  /** Aborted when nobody waits for the answer any more: the remaining calls are not checked. */
  signal?: AbortSignal | undefined;
}

export interface ComparedRange extends Pick<AuditQuery, 'client_id' | 'key_id'> {
  /** Milliseconds since 1970. */
  since: number;
  until: number;
}

/**
 * Checks the calls of the audit against a draft of a policy. Reads the newest calls first, page by page, and leaves
 * the event loop free in between. Number of calls, time and memory are bounded.
 */
export async function comparePolicy(
  { since, until, ...filters }: ComparedRange,
  { audit, check, nowMs, signal }: ComparePolicyDeps,
): Promise<Omit<PolicyComparison, 'unchecked'>> {
  const query: AuditQuery = { ...filters, kind: 'call', since: showTime(since), until: showTime(until) };
  const endsMs = nowMs() + DURATION_MS_MAX;
  const tally = createTally(check);
  let oldest = until;
  let cursor: string | null = null;
  do {
    const limits = { limit: PAGE_RECORDS, ...(cursor === null ? {} : { cursor }) };
    const page: { items: AuditView[]; next: string | null } = await audit.search({ ...query, ...limits });
    let sliceEndsMs = nowMs() + SLICE_MS;
    for (const record of page.items) {
      tally.add(record);
      oldest = Math.min(oldest, Date.parse(record.time));
      if (nowMs() < sliceEndsMs) continue;
      await nextTurn();
      sliceEndsMs = nowMs() + SLICE_MS;
    }
    cursor = page.next;
    await nextTurn();
  } while (cursor !== null && tally.calls < CALLS_MAX && nowMs() < endsMs && signal?.aborted !== true);
  const isCut = cursor !== null;
  return {
    since: showTime(isCut ? oldest : since),
    until: showTime(until),
    is_cut: isCut,
    ...tally.show(),
  };
}

function createTally(check: RecordCheck) {
  const groups = new Map<string, ComparedCalls>();
  const counts = { calls: 0, denied: 0, unlisted: 0 };

  return {
    get calls() {
      return counts.calls;
    },
    add(record: AuditView): void {
      if (record.kind !== 'call' || !isOfClient(record)) return;
      const { model, action } = record;
      if (model === null || action === null) return;
      const { denied, approval } = check({ ...record, model, action });
      counts.calls++;
      if (denied !== null) counts.denied++;
      const { instance } = record;
      const upstream = instance === null ? record.upstream : null;
      const rule = denied?.rule ?? null;
      const name = JSON.stringify([instance, upstream, model, action, rule, approval]);
      let group = groups.get(name);
      if (group === undefined) {
        if (groups.size === GROUPS_MAX) {
          counts.unlisted++;
          return;
        }
        group = {
          instance,
          upstream,
          model,
          action,
          calls: 0,
          denied_then: 0,
          denied: denied !== null,
          rule,
          message: denied?.message ?? null,
          approval,
          examples: [],
        };
        groups.set(name, group);
      }
      group.calls++;
      if (record.outcome === 'policy_denied') group.denied_then++;
      const { request_id: id } = record;
      if (id !== null && group.examples.length < EXAMPLES_MAX && !group.examples.includes(id))
        group.examples.push(id);
    },
    show: () => ({
      ...counts,
      groups: [...groups.values()].sort(
        (one, other) => Number(other.denied) - Number(one.denied) || other.calls - one.calls,
      ),
    }),
  };
}

/** Calls by administrators, and by the proxy itself, belong to no client. */
function isOfClient({ via, key_id }: Extract<AuditView, { kind: 'call' }>): boolean {
  return via !== 'console' && key_id !== PROXY_CLIENT.key.id;
}
