/**
 * Lists the problems that need an administrator: states in which calls or data are lost, or soon will be, and states
 * that wait for a decision. Each part is read in bounded pages, so that the cost does not grow with keys and
 * subscriptions.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  ATTENTION_PARTS,
  ATTENTION_SEVERITIES,
  type AttentionItem,
  type AttentionView,
  type StatusView,
} from '@erp-proxy/contract';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { checkKey } from '@erp-proxy/control/key-rotation';
import { type ExpiryNotice, LAST_NOTICE_DAYS } from '@erp-proxy/control/keys';
import type { SubscriptionRecord } from '@erp-proxy/data/subscriptions';
import { listModelsWithoutFields } from '@erp-proxy/policy/parse';
import type { KeyRecord } from '@erp-proxy/stores/ports';
import type { AdminDeps } from './admin.ts';
import { showTime } from './time.ts';
import { listUnnamedMethods } from './unnamed-methods.ts';
import { showKey } from './views.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ITEMS_MAX = 50;
const PAGE_ROWS = 100;
/** Maximum instances, and maximum subscriptions, that are checked. */
const ROWS_MAX = 2000;
const PENDING_SHOWN_MAX = 100;

/** Checks of `/readyz` for whose causes there are items already. */
const DETAILED_CHECKS: ReadonlySet<string> = new Set(['audit', 'instance_keys', 'client_keys']);

export async function listAttention(deps: AdminDeps): Promise<AttentionView> {
  const now = deps.clock();
  const status = await deps.status();
  // Must have the order of ATTENTION_PARTS.
  const parts = await Promise.allSettled([
    listInstanceKeys(deps, now),
    listClientKeys(deps, now),
    listSubscriptions(deps),
    listApprovals(deps),
    listCalls(deps, now),
    listUnnamedMethods(deps, now),
    listTokenUses(deps),
  ]);
  // While the store does not answer, the other parts are shown: the check `store` reports the cause.
  const failed = parts.find((part) => part.status === 'rejected');
  if (failed !== undefined && status.checks['store']?.state === 'ok') throw failed.reason;
  const found = parts.flatMap((part) => (part.status === 'fulfilled' ? part.value.items : []));
  const items = [...listChecks(status), ...listUpstreams(status), ...found].sort(compareItems);
  return {
    items: items.slice(0, ITEMS_MAX),
    more: Math.max(0, items.length - ITEMS_MAX),
    incomplete: ATTENTION_PARTS.filter((_, index) => {
      const part = parts[index];
      return part?.status !== 'fulfilled' || part.value.isCut;
    }),
  };
}

interface Found {
  items: AttentionItem[];
  /** True if some rows were not checked. */
  isCut: boolean;
}

function compareItems(one: AttentionItem, other: AttentionItem): number {
  const rank = ({ severity }: AttentionItem) => ATTENTION_SEVERITIES.indexOf(severity);
  const bySeverity = rank(one) - rank(other);
  if (bySeverity !== 0) return bySeverity;
  const begin = ({ since }: AttentionItem) => (since === null ? Number.MAX_SAFE_INTEGER : Date.parse(since));
  return begin(one) - begin(other);
}

function listChecks({ checks, audit }: StatusView): AttentionItem[] {
  const failed = Object.entries(checks).flatMap(([name, { state, detail }]): AttentionItem[] => {
    if (state === 'ok' || DETAILED_CHECKS.has(name)) return [];
    const severity = state === 'failed' ? 'critical' : 'warning';
    return [{ kind: 'check_failed', severity, target: `check ${name}`, text: detail ?? state, since: null }];
  });
  if (audit === null) return failed;
  const isWaiting = audit.lost === 0 && checks['audit']?.state !== 'ok';
  return [
    ...failed,
    ...(audit.lost === 0 ? [] : [describeAudit('audit_lost', `${audit.lost} records are lost; see the log`)]),
    ...(isWaiting ? [describeAudit('audit_waiting', `${audit.waiting} records wait to be written`)] : []),
  ];
}

function describeAudit(kind: 'audit_lost' | 'audit_waiting', text: string): AttentionItem {
  const severity = kind === 'audit_lost' ? 'critical' : 'warning';
  return { kind, severity, target: 'audit', text, since: null };
}

function listUpstreams({ upstreams }: StatusView): AttentionItem[] {
  return upstreams
    .filter(({ breaker }) => breaker !== 'closed')
    .map(({ database, breaker, retry_after_seconds: seconds }) => ({
      kind: 'breaker_open',
      severity: breaker === 'open' ? 'critical' : 'warning',
      target: `upstream ${database}`,
      text:
        breaker === 'open'
          ? `does not answer, so that calls to it are refused; it is tried again in ${seconds} s. Check the Odoo server.`
          : 'did not answer, and is being tried. Check the Odoo server.',
      since: null,
    }));
}

function listInstanceKeys({ instances }: AdminDeps, now: number): Promise<Found> {
  return describeRows({
    list: (after: string | null, limit) => instances.list({ after, limit }),
    placeOf: ({ name }) => name,
    describe: (instance) => describeInstance(instance, now),
  });
}

function describeInstance({ name, key, rotateKey }: InstanceRecord, now: number): AttentionItem[] {
  const target = `instance ${name}`;
  const state = checkKey(key, now);
  const endsAt = key.expiresAt ?? now;
  const advice = rotateKey
    ? 'The proxy replaces it; if that fails, give another one.'
    : 'Give the instance another key.';
  const items: AttentionItem[] = [];
  if (state === 'expired') {
    const text = `its Odoo key expired at ${showTime(endsAt)}, so that calls fail. ${advice}`;
    const since = showTime(endsAt);
    items.push({ kind: 'instance_key_expired', severity: 'critical', target, text, since });
  }
  if (state === 'expiring') {
    const text = `its Odoo key expires at ${showTime(endsAt)}. ${advice}`;
    items.push({ kind: 'instance_key_expiring', severity: 'warning', target, text, since: null });
  }
  if (key.failure !== null) {
    const text = `its Odoo key could not be replaced: ${key.failure}`;
    items.push({ kind: 'instance_key_not_rotated', severity: 'warning', target, text, since: null });
  }
  return items;
}

async function listClientKeys(deps: AdminDeps, now: number): Promise<Found> {
  const { due, isCut } = await deps.readEndingKeys();
  const open = await listOpenKeys(deps, now);
  return {
    items: [...due.map((key) => describeClientKey(key, now)), ...open.items],
    isCut: isCut || open.isCut,
  };
}

/** Lists publishable keys that are older than the rule that their policies must name fields. */
function listOpenKeys({ keys }: AdminDeps, now: number): Promise<Found> {
  return describeRows<KeyRecord, { createdAt: number; id: string }>({
    list: async (after, limit) => await keys.list({ state: { is: 'active', now }, after, limit }),
    placeOf: ({ createdAt, id }) => ({ createdAt, id }),
    describe: (key) => describeOpenKey(key, now),
  });
}

function describeOpenKey(key: KeyRecord, now: number): AttentionItem[] {
  // A quick check on the text, so that the policies of other keys are not parsed.
  if (key.policy?.includes('"publishable"') !== true) return [];
  const { id, name, policy } = showKey(key, now);
  if (policy === null || 'unreadable' in policy) return [];
  const [model] = listModelsWithoutFields(policy);
  if (model === undefined) return [];
  const text = `the publishable key ${JSON.stringify(name)} gives all fields of \`${model}\` to every visitor of its page. Name the fields in its policy: \`fields\` with \`allow\`.`;
  return [{ kind: 'publishable_key_open', severity: 'warning', target: `key ${id}`, text, since: null }];
}

function describeClientKey({ kind, keyId, name, expiresAt }: ExpiryNotice, now: number): AttentionItem {
  const isOver = kind === 'expired';
  const isUrgent = isOver || expiresAt - now <= LAST_NOTICE_DAYS * DAY_MS;
  return {
    kind: isOver ? 'client_key_expired' : 'client_key_expiring',
    severity: isUrgent ? 'warning' : 'info',
    target: `key ${keyId}`,
    text: `the client key ${JSON.stringify(name)} ${isOver ? 'expired' : 'expires'} at ${showTime(expiresAt)}. Rotate it, or change its end, if it is still needed.`,
    since: isOver ? showTime(expiresAt) : null,
  };
}

function listSubscriptions({ subscriptions }: AdminDeps): Promise<Found> {
  return describeRows({
    list: (after: string | null, limit) => subscriptions.list({ after, limit }),
    placeOf: ({ row }) => row.name,
    describe: ({ row }) => describeSubscription(row),
  });
}

function describeSubscription(row: SubscriptionRecord['row']): AttentionItem[] {
  const { state, reason, problem, failures, failingSince, lastFailure } = row;
  const target = `subscription ${row.name}`;
  if (state === 'disabled') {
    const text = `is disabled: ${reason} Correct the cause, then resume it.`;
    return [{ kind: 'subscription_disabled', severity: 'warning', target, text, since: null }];
  }
  if (state === 'paused') return [];
  const items: AttentionItem[] = [];
  if (problem !== null) {
    const text = `its changes cannot be read: ${problem}`;
    items.push({ kind: 'subscription_unreadable', severity: 'warning', target, text, since: null });
  }
  if (failingSince !== null) {
    const text = `its receiver did not take ${failures} attempts: ${lastFailure}`;
    const since = showTime(failingSince);
    items.push({ kind: 'subscription_failing', severity: 'warning', target, text, since });
  }
  return items;
}

async function listApprovals({ approvals }: AdminDeps): Promise<Found> {
  const pending = await approvals.list({ after: null, limit: PENDING_SHOWN_MAX, state: 'pending' });
  const oldest = pending.at(-1);
  if (oldest === undefined) return { items: [], isCut: false };
  const count =
    pending.length === PENDING_SHOWN_MAX ? `${PENDING_SHOWN_MAX} or more` : String(pending.length);
  const item: AttentionItem = {
    kind: 'approvals_pending',
    severity: 'info',
    target: 'approvals',
    text: `${count} ${pending.length === 1 ? 'call waits' : 'calls wait'} for a decision.`,
    since: showTime(oldest.createdAt),
  };
  // Not cut: the one item says that there are more.
  return { items: [item], isCut: false };
}

async function listCalls({ statistics }: AdminDeps, now: number): Promise<Found> {
  const { since, total } = await statistics.query({ since: now - HOUR_MS });
  const internal = total.errors['internal'] ?? 0;
  const items: AttentionItem[] = [];
  if (internal > 0) {
    const text = `${internal} calls of the last hour met an error of the proxy itself; see the log.`;
    items.push({ kind: 'internal_errors', severity: 'critical', target: 'calls', text, since });
  }
  if (total.refused > 0) {
    const text = `${total.refused} requests of the last hour were refused for lack of capacity, or over a limit of their key.`;
    items.push({ kind: 'calls_refused', severity: 'warning', target: 'calls', text, since });
  }
  return { items, isCut: false };
}

/** While operators have names, the token is for emergencies. */
async function listTokenUses({ readTokenUses }: AdminDeps): Promise<Found> {
  const { uses, isCut } = (await readTokenUses?.()) ?? { uses: [], isCut: false };
  const items = uses.map(({ time, address, action }): AttentionItem => {
    const what = action === 'login.token' ? 'was sent' : 'signed somebody in';
    const text = `it ${what} from ${address}. It names nobody: let people sign in, and give scripts personal tokens.`;
    return { kind: 'admin_token_used', severity: 'warning', target: 'admin.token', text, since: time };
  });
  return { items, isCut };
}

interface Rows<Row, Place> {
  list: (after: Place | null, limit: number) => Promise<Row[]>;
  placeOf: (row: Row) => Place;
  describe: (row: Row) => AttentionItem[];
}

/** Describes the rows of a list, up to {@link ROWS_MAX}. */
async function describeRows<Row, Place>({ list, placeOf, describe }: Rows<Row, Place>): Promise<Found> {
  const items: AttentionItem[] = [];
  let after: Place | null = null;
  for (let read = 0; read < ROWS_MAX; read += PAGE_ROWS) {
    const rows: Row[] = await list(after, PAGE_ROWS);
    for (const row of rows) items.push(...describe(row));
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return { items, isCut: false };
    after = placeOf(last);
    // A store in memory answers without giving other work its turn.
    await nextTurn();
  }
  return { items, isCut: (await list(after, 1)).length > 0 };
}
