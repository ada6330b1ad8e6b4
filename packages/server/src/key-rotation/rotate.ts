/**
 * Replaces the key of one instance, a step at a time. Each step ends in one write of the store, and between any two there
 * is a stored key that works: where a process dies, the next one goes on. Knows nothing of when to look, nor of other
 * replicas: of two that meet, the version of the instance lets one win.
 *
 *   no pending key → make → `proving`: the new key, not used yet → prove → `revoking`: the new key is the stored one, and
 *   calls that began with the old one end → revoke → no pending key
 */

import type { Instances } from '../instances/instances.ts';
import type { InstanceRecord, KeyState, PendingKey } from '../instances/views.ts';
import type { AuditBatch } from '../stores/ports.ts';
import type { AskOdoo, OdooAnswer } from './ask-odoo.ts';
import { DAY_MS, isRotationDue } from './expiry.ts';
import {
  explainLostKeys,
  explainNoKey,
  explainNotMade,
  explainNotProven,
  explainNotRevoked,
  explainSharedKey,
  explainUnanswered,
} from './failures.ts';
import {
  countLostKeys,
  findCreation,
  findExpiry,
  KEYS_MODEL,
  labelKey,
  listOwnKeys,
  printDate,
} from './own-keys.ts';

/** For the audit. */
export interface KeyRotationAct {
  kind: 'rotated' | 'revoked';
  instance: string;
  /** When the stored key ends: of the old one, and of the new one. */
  expiresAt: { from: number | null; to: number | null };
}

/** The act's record, to be written in the transaction of the change. */
export type DescribeKeyRotationAct = (act: KeyRotationAct) => AuditBatch;

export interface RotationDeps {
  instances: Pick<Instances, 'openKey' | 'changeKey' | 'list'>;
  ask: AskOdoo;
  describeAct: DescribeKeyRotationAct;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** From the switch until the old key goes: longer than any call lasts, and than any replica knows only the old one. */
  pauseMs: number;
}

export type Step =
  /** The store has it; there may be more to do. */
  | 'learned'
  | 'made'
  | 'switched'
  | 'revoked'
  /** There is nothing to do now. */
  | 'nothing'
  /** Odoo could not be asked. */
  | 'unanswered'
  /** Somebody has changed the instance meanwhile, and theirs counts. */
  | 'overtaken'
  /** For the operator. */
  | { failure: string };

/** Takes the next step; `isAsked`: the operator wants a new key, however long the present one lasts. */
export async function takeStep(state: KeyState, isAsked: boolean, given: RotationDeps): Promise<Step> {
  const { pending } = state;
  // Odoo was sent both keys, and may say one when it is asked with the other.
  const secrets = pending === null ? [state.apiKey] : [state.apiKey, pending.apiKey];
  const deps: RotationDeps = {
    ...given,
    ask: (record, apiKey, question) => given.ask(record, apiKey, { ...question, secrets }),
  };
  if (pending?.step === 'proving') return prove(state, pending, deps);
  if (pending?.step === 'revoking') return revoke(state, pending, deps);
  if (isAsked) return make(state, deps, true);
  if (!state.record.key.isExpiryKnown) return learn(state, deps);
  return isToDo(state.record, deps.clock()) ? make(state, deps, false) : 'nothing';
}

/** Whether Odoo has to be asked for anything, as far as the row tells. */
export function isToDo({ key }: InstanceRecord, now: number): boolean {
  if (key.pendingStep !== null || !key.isExpiryKnown) return true;
  // As if its life were the longest: when it was made, only Odoo knows.
  return key.rotate && isRotationDue({ expiresAt: key.expiresAt, createdAt: null }, now);
}

/** Lives to ask for, in days: a little below what Odoo lets users choose (by their groups 90 or less), as clocks differ. */
const LIVES_DAYS = [89, 29, 6.5, 0.9];
/** Keys whose text was lost in a crash live on, count towards Odoo's limit of 10, and only the user can remove them. */
const LOST_KEYS_MAX = 3;
/**
 * What opens calls over every protocol, and the most that a key of that scope may ask for
 * (docs/odoo-facts.md#api-key-form).
 */
const SCOPE = 'rpc';

async function learn(state: KeyState, { instances, ask, clock }: RotationDeps): Promise<Step> {
  const { record, apiKey } = state;
  const keys = await listOwnKeys(state, ask, clock());
  // 16 and 17 have no such date, and no keys that end.
  if ('kind' in keys) return keys.kind === 'refused' ? 'nothing' : 'unanswered';
  const expiresAt = findExpiry(apiKey, keys);
  if (expiresAt === undefined) return 'nothing';
  const learned = { expiresAt, isExpiryKnown: true, failure: null };
  const change = await instances.changeKey(record.name, record.version, learned);
  return change === 'done' ? 'learned' : 'overtaken';
}

async function make(state: KeyState, deps: RotationDeps, isAsked: boolean): Promise<Step> {
  const { instances, ask, clock } = deps;
  const { record } = state;
  const now = clock();
  const label = labelKey(record.name, now);
  const keys = await listOwnKeys(state, ask, now);
  if (!('kind' in keys)) {
    const dates = { expiresAt: record.key.expiresAt, createdAt: findCreation(record, keys) };
    if (!isAsked && !isRotationDue(dates, now)) return 'nothing';
    const lost = countLostKeys(record, keys);
    if (lost >= LOST_KEYS_MAX) return { failure: explainLostKeys(lost, label) };
  } else if (keys.kind === 'unanswered') {
    return { failure: explainUnanswered('listing the keys', keys) };
  }

  const sharer = await findSharer(state, instances);
  if (sharer !== null) return { failure: explainSharedKey(sharer) };

  const { answer, expiresAt } = await generate(state, ask, label, now);
  if (answer.kind !== 'result') return { failure: explainNotMade(answer, label) };
  const made = answer.value;
  if (typeof made !== 'string' || !KEY_SHAPE.test(made) || made === state.apiKey)
    return { failure: explainNoKey(label) };
  const pending: PendingKey = { apiKey: made, step: 'proving', since: now, expiresAt };
  const change = await instances
    .changeKey(record.name, record.version, { pending })
    .catch(async (error: unknown) => {
      await removeUnlessKept(record, made, deps);
      throw error;
    });
  if (change === 'done') return 'made';
  await removeUnlessKept(record, made, deps);
  return 'overtaken';
}

/** One word that a header can hold: what a key of a later Odoo may look like is not ours to say. */
const KEY_SHAPE = /^[\x21-\x7e]{20,200}$/;

/** Another instance with the same key, which would lose it. */
async function findSharer(
  { record, apiKey }: KeyState,
  instances: RotationDeps['instances'],
): Promise<string | null> {
  for (let after: string | null = null; ; ) {
    const page: InstanceRecord[] = await instances.list({ after, limit: PAGE_SIZE, search: record.url });
    for (const { name } of page)
      if (name !== record.name && (await instances.openKey(name))?.apiKey === apiKey) return name;
    if (page.length < PAGE_SIZE) return null;
    after = page.at(-1)?.name ?? null;
  }
}

const PAGE_SIZE = 100;

/** Asks for the longest life that Odoo gives to the user. */
async function generate({ record, apiKey }: KeyState, ask: AskOdoo, label: string, now: number) {
  for (let choice = 0; ; choice++) {
    const expiresAt = Math.floor((now + (LIVES_DAYS[choice] ?? 0) * DAY_MS) / 1000) * 1000;
    const answer = await ask(record, apiKey, {
      model: KEYS_MODEL,
      method: 'generate',
      keyword: { key: apiKey, scope: SCOPE, name: label, expiration_date: printDate(expiresAt) },
    });
    const isTooLong = answer.kind === 'refused' && answer.type === 'validation_error';
    if (!isTooLong || choice === LIVES_DAYS.length - 1) return { answer, expiresAt };
  }
}

async function prove({ record, apiKey }: KeyState, pending: PendingKey, deps: RotationDeps): Promise<Step> {
  const { instances, ask, clock } = deps;
  const { name, version, key } = record;
  const answer = await askWhoseKey(record, pending.apiKey, ask);
  if (answer.kind === 'unanswered' || (answer.kind === 'refused' && answer.type !== 'access_denied'))
    return { failure: explainUnanswered('trying the new key', answer) };
  if (answer.kind === 'refused' || readUid(answer.value) !== record.userId) {
    const removal = await askToRevoke(record, apiKey, pending.apiKey, ask);
    if (removal.kind === 'unanswered') return { failure: explainUnanswered('removing the new key', removal) };
    await instances.changeKey(name, version, { pending: null });
    return { failure: explainNotProven(labelKey(name, pending.since), removal.kind === 'result') };
  }
  const next = {
    apiKey: pending.apiKey,
    expiresAt: pending.expiresAt,
    isExpiryKnown: true,
    failure: null,
    pending: { apiKey, step: 'revoking', since: clock(), expiresAt: key.expiresAt } as const,
  };
  const expiresAt = { from: key.expiresAt, to: pending.expiresAt };
  const act = deps.describeAct({ kind: 'rotated', instance: name, expiresAt });
  const change = await instances.changeKey(name, version, next, act);
  if (change === 'done') return 'switched';
  await removeUnlessKept(record, pending.apiKey, deps);
  return 'overtaken';
}

/** A new key that the store has nowhere is of no use to anybody: it removes itself. */
async function removeUnlessKept(
  record: InstanceRecord,
  made: string,
  { instances, ask }: RotationDeps,
): Promise<void> {
  const present = await instances.openKey(record.name);
  if (present?.apiKey === made || present?.pending?.apiKey === made) return;
  await askToRevoke(record, made, made, ask);
}

async function revoke(
  { record, apiKey }: KeyState,
  pending: PendingKey,
  { instances, ask, clock, pauseMs, describeAct }: RotationDeps,
): Promise<Step> {
  if (clock() - pending.since < pauseMs) return 'nothing';
  const answer = await askToRevoke(record, apiKey, pending.apiKey, ask);
  const isDone = answer.kind === 'result' && answer.value === true;
  // Odoo refuses a key that is gone already, too: an earlier attempt may have removed it, or it has ended.
  if (!isDone && (answer.kind === 'unanswered' || !(await isDead(record, pending.apiKey, ask))))
    return { failure: explainNotRevoked(answer) };
  const { name, version, key } = record;
  const expiresAt = { from: key.expiresAt, to: key.expiresAt };
  const act = describeAct({ kind: 'revoked', instance: name, expiresAt });
  const change = await instances.changeKey(name, version, { pending: null, failure: null }, act);
  return change === 'done' ? 'revoked' : 'overtaken';
}

function askToRevoke(record: InstanceRecord, by: string, key: string, ask: AskOdoo): Promise<OdooAnswer> {
  return ask(record, by, { model: KEYS_MODEL, method: 'revoke', keyword: { key } });
}

/** `context_get`: the one method that tells a key's user and does nothing else. */
function askWhoseKey(record: InstanceRecord, key: string, ask: AskOdoo): Promise<OdooAnswer> {
  return ask(record, key, { model: 'res.users', method: 'context_get', keyword: {} });
}

async function isDead(record: InstanceRecord, key: string, ask: AskOdoo): Promise<boolean> {
  const answer = await askWhoseKey(record, key, ask);
  return answer.kind === 'refused' && answer.type === 'access_denied';
}

function readUid(context: unknown): unknown {
  return typeof context === 'object' && context !== null && 'uid' in context ? context.uid : undefined;
}
