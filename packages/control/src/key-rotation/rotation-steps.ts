/**
 * The steps that replace the key of one instance, or of a person on it. Each step ends with one write to the store, and
 * the stored key works between any two steps. So another process can continue after a crash. Knows neither schedules
 * nor leases: if two processes run the same step, the version of the record lets only one write succeed. An instance
 * that is removed and added again is another one: the result of a step for the old instance is not written to the new
 * one.
 *
 * no pending key → make → `proving`: the new key is stored, but not used yet → prove → `revoking`: the new key is used,
 * while calls that began with the old key end → revoke → no pending key
 */

import type { AuditBatch } from '@erp-proxy/stores/ports';
import type { Instances } from '../instances/instances.ts';
import type { InstanceRecord, KeyedRecord, KeyState, PendingKey } from '../instances/views.ts';
import type { AskOdoo, OdooAnswer } from './ask-odoo.ts';
import { DAY_MS, isRotationDue } from './expiry.ts';
import {
  countLostKeys,
  findCreation,
  findExpiry,
  KEYS_MODEL,
  labelKey,
  listOdooKeys,
  printDate,
} from './odoo-keys.ts';

/** The facts of a step that the audit records. */
export interface KeyRotationAction {
  kind: 'rotated' | 'revoked';
  instance: string;
  /** Expiry of the old stored key (`from`) and of the new one (`to`). */
  expiresAt: { from: number | null; to: number | null };
}

/** Creates the audit record of a step, which is written in the transaction of the change. */
export type DescribeKeyRotation = (action: KeyRotationAction) => AuditBatch;

export interface RotationDeps {
  /** The stored keys, by the names of their records. */
  keys: Pick<Instances, 'openKey' | 'changeKey'>;
  /** Says what else has the same key, which the rotation would break; null if nothing has. */
  findSharer: (state: KeyState) => Promise<string | null>;
  ask: AskOdoo;
  describeAction: DescribeKeyRotation;
  /** Milliseconds since 1970. */
  clock: () => number;
  /**
   * Milliseconds from the switch to the new key until the old key is revoked: longer than any call lasts, and longer
   * than any replica still uses the old key.
   */
  pauseMs: number;
}

export type StepResult =
  // The change is stored. Another step may be due.
  | 'learned'
  | 'made'
  | 'switched'
  | 'revoked'
  /** No step is due. */
  | 'nothing'
  /** Odoo did not answer. */
  | 'unanswered'
  /** The instance was changed during the step, and that change is kept. */
  | 'conflict'
  /** The step failed. The text is for the operator. */
  | { failure: string };

/** Takes the next step. `isRequested`: an operator wants a new key, even if the current one does not expire soon. */
export async function takeStep(
  state: KeyState,
  isRequested: boolean,
  given: RotationDeps,
): Promise<StepResult> {
  const { pending } = state;
  // Both keys were sent to Odoo, which may repeat one in its answer to a call with the other.
  const secrets = pending === null ? [state.apiKey] : [state.apiKey, pending.apiKey];
  const deps: RotationDeps = {
    ...given,
    ask: (record, apiKey, question) => given.ask(record, apiKey, { ...question, secrets }),
  };
  if (pending?.step === 'proving') return prove(state, pending, deps);
  if (pending?.step === 'revoking') return revoke(state, pending, deps);
  if (isRequested) return make(state, deps, true);
  if (!state.record.key.isExpiryKnown) return learn(state, deps);
  return isStepDue(state.record, deps.clock()) ? make(state, deps, false) : 'nothing';
}

/** Whether a step that calls Odoo is due, according to the stored row alone. */
export function isStepDue({ key, rotateKey }: InstanceRecord, now: number): boolean {
  if (key.pendingStep !== null || !key.isExpiryKnown) return true;
  // Only Odoo knows when the key was made, so the longest lifetime is assumed.
  return rotateKey && isRotationDue({ expiresAt: key.expiresAt, createdAt: null }, now);
}

/**
 * Lifetimes to request, in days. Each is slightly below a limit that Odoo sets (90 or less, by the groups of the user),
 * because clocks differ.
 */
const LIFETIMES_DAYS = [89, 29, 6.5, 0.9];
/**
 * Maximum number of keys whose texts were lost in crashes. Such a key keeps working and counts towards Odoo's limit of
 * 10 keys. Only the user can remove it.
 */
const LOST_KEYS_MAX = 3;
/** The scope that allows calls over every protocol (docs/odoo-facts.md#api-key-form). */
const SCOPE = 'rpc';

async function learn(state: KeyState, { keys: stored, ask, clock }: RotationDeps): Promise<StepResult> {
  const { record, apiKey } = state;
  const keys = await listOdooKeys(state, ask, clock());
  // Odoo 16 and 17 have no expiry date and refuse the query; their keys do not expire.
  if ('kind' in keys) return keys.kind === 'refused' ? 'nothing' : 'unanswered';
  const expiresAt = findExpiry(apiKey, keys);
  if (expiresAt === undefined) return 'nothing';
  const learned = { expiresAt, isExpiryKnown: true, failure: null };
  const change = await stored.changeKey(record, learned);
  return change === 'done' ? 'learned' : 'conflict';
}

async function make(state: KeyState, deps: RotationDeps, isRequested: boolean): Promise<StepResult> {
  const { keys: stored, findSharer, ask, clock } = deps;
  const { record } = state;
  const now = clock();
  const label = labelKey(record.name, now);
  const keys = await listOdooKeys(state, ask, now);
  if (!('kind' in keys)) {
    const dates = { expiresAt: record.key.expiresAt, createdAt: findCreation(record, keys) };
    if (!isRequested && !isRotationDue(dates, now)) return 'nothing';
    const lost = countLostKeys(record, keys);
    if (lost >= LOST_KEYS_MAX) return { failure: explainLostKeys(lost, label) };
  } else if (keys.kind === 'unanswered') {
    return { failure: explainUnanswered('listing the keys', keys) };
  }

  const sharer = await findSharer(state);
  if (sharer !== null) return { failure: explainSharedKey(sharer) };

  const { answer, expiresAt } = await generate(state, ask, label, now);
  if (answer.kind !== 'result') return { failure: explainNotMade(answer, label) };
  const made = answer.value;
  if (typeof made !== 'string' || !KEY_SHAPE.test(made) || made === state.apiKey)
    return { failure: explainNoKey(label) };
  const pending: PendingKey = { apiKey: made, step: 'proving', since: now, expiresAt };
  const change = await stored.changeKey(record, { pending }).catch(async (error: unknown) => {
    await removeUnlessStored(record, made, deps);
    throw error;
  });
  if (change === 'done') return 'made';
  await removeUnlessStored(record, made, deps);
  return 'conflict';
}

/**
 * The form of a new key: any text without spaces that a header can hold, because keys of later Odoo versions may
 * differ.
 */
const KEY_SHAPE = /^[\x21-\x7e]{20,200}$/;

/** Requests a key with the longest lifetime that Odoo allows this user. */
async function generate({ record, apiKey }: KeyState, ask: AskOdoo, label: string, now: number) {
  for (let choice = 0; ; choice++) {
    const expiresAt = Math.floor((now + (LIFETIMES_DAYS[choice] ?? 0) * DAY_MS) / 1000) * 1000;
    const answer = await ask(record, apiKey, {
      model: KEYS_MODEL,
      method: 'generate',
      keyword: { key: apiKey, scope: SCOPE, name: label, expiration_date: printDate(expiresAt) },
    });
    const isTooLong = answer.kind === 'refused' && answer.type === 'validation_error';
    if (!isTooLong || choice === LIFETIMES_DAYS.length - 1) return { answer, expiresAt };
  }
}

async function prove(
  { record, apiKey }: KeyState,
  pending: PendingKey,
  deps: RotationDeps,
): Promise<StepResult> {
  const { keys: stored, ask, clock } = deps;
  const { name, key } = record;
  const answer = await askForUser(record, pending.apiKey, ask);
  if (answer.kind === 'unanswered' || (answer.kind === 'refused' && answer.type !== 'access_denied'))
    return { failure: explainUnanswered('trying the new key', answer) };
  if (answer.kind === 'refused' || readUid(answer.value) !== record.userId) {
    const removal = await askToRevoke(record, apiKey, pending.apiKey, ask);
    if (removal.kind === 'unanswered') return { failure: explainUnanswered('removing the new key', removal) };
    await stored.changeKey(record, { pending: null });
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
  const auditBatch = deps.describeAction({ kind: 'rotated', instance: name, expiresAt });
  const change = await stored.changeKey(record, next, auditBatch);
  if (change === 'done') return 'switched';
  await removeUnlessStored(record, pending.apiKey, deps);
  return 'conflict';
}

/** If the new key was not stored, revokes it, authenticated by the new key itself. */
async function removeUnlessStored(
  record: KeyedRecord,
  made: string,
  { keys: stored, ask }: RotationDeps,
): Promise<void> {
  const present = await stored.openKey(record.name);
  if (present?.apiKey === made || present?.pending?.apiKey === made) return;
  await askToRevoke(record, made, made, ask);
}

async function revoke(
  { record, apiKey }: KeyState,
  pending: PendingKey,
  { keys: stored, ask, clock, pauseMs, describeAction }: RotationDeps,
): Promise<StepResult> {
  if (clock() - pending.since < pauseMs) return 'nothing';
  const answer = await askToRevoke(record, apiKey, pending.apiKey, ask);
  const isDone = answer.kind === 'result' && answer.value === true;
  // Odoo also refuses to revoke a key that no longer exists: an earlier attempt may have revoked it, or it has expired.
  if (!isDone && (answer.kind === 'unanswered' || !(await isInvalid(record, pending.apiKey, ask))))
    return { failure: explainNotRevoked(answer) };
  const { name, key } = record;
  const expiresAt = { from: key.expiresAt, to: key.expiresAt };
  const auditBatch = describeAction({ kind: 'revoked', instance: name, expiresAt });
  const change = await stored.changeKey(record, { pending: null, failure: null }, auditBatch);
  return change === 'done' ? 'revoked' : 'conflict';
}

function askToRevoke(record: KeyedRecord, by: string, key: string, ask: AskOdoo): Promise<OdooAnswer> {
  return ask(record, by, { model: KEYS_MODEL, method: 'revoke', keyword: { key } });
}

/** Asks Odoo for the user of a key. `context_get` is the one method that does nothing else. */
function askForUser(record: KeyedRecord, key: string, ask: AskOdoo): Promise<OdooAnswer> {
  return ask(record, key, { model: 'res.users', method: 'context_get', keyword: {} });
}

async function isInvalid(record: KeyedRecord, key: string, ask: AskOdoo): Promise<boolean> {
  const answer = await askForUser(record, key, ask);
  return answer.kind === 'refused' && answer.type === 'access_denied';
}

function readUid(context: unknown): unknown {
  return typeof context === 'object' && context !== null && 'uid' in context ? context.uid : undefined;
}

/** An answer without a result. */
type FailedAnswer = Exclude<OdooAnswer, { kind: 'result' }>;

const BY_HAND =
  'make a key by hand in Odoo (Preferences, Account Security, New API Key) and give it to the proxy';

/** Texts for operators that say why a step of key rotation failed and what to do. They contain no key. */
function explainUnanswered(doing: string, { message }: FailedAnswer): string {
  return `Odoo did not answer while ${doing}: ${message}. It is tried again later.`;
}

function explainNotMade(answer: FailedAnswer, label: string): string {
  const { kind, message } = answer;
  if (kind === 'unanswered') {
    return `${explainUnanswered('making a key', answer)} A key named "${label}" may be at Odoo: nobody knows its text, and it ends by itself.`;
  }
  switch (answer.type) {
    case 'method_not_found':
      return `This Odoo cannot make keys by call (19 can, from its later updates on): ${BY_HAND}.`;
    case 'access_denied':
      return `Odoo does not take the stored key as a living API key of this user; where it has ended, was removed or is a password, ${BY_HAND}.`;
    case 'validation_error':
      return `Odoo gives this user no key of even a day ("${message}"): raise the API key duration of a group of the user.`;
    case 'user_error':
      return `Odoo refused to make a key: "${message}". ${/limit/i.test(message) ? 'Remove keys of this user at Odoo that nobody needs.' : PERMISSION}`;
    default:
      return `Odoo refused to make a key: "${message}".`;
  }
}

const PERMISSION =
  'Set the system parameter base.enable_programmatic_api_keys to True (Settings, Technical, System Parameters), or make the user an administrator (Settings).';

function explainNoKey(label: string): string {
  return `Odoo said that it made a key, and gave none. If there is one named "${label}", remove it at Odoo by hand.`;
}

function explainLostKeys(count: number, label: string): string {
  return `Odoo has ${count} keys of this user, named like "${label}", that the proxy made and lost. Remove them at Odoo by hand: no more are made until then.`;
}

function explainSharedKey(sharer: string): string {
  return `${sharer} has the same key, and would lose it with this rotation: make another key for one of them at Odoo.`;
}

function explainNotProven(label: string, isRemoved: boolean): string {
  const rest = isRemoved ? 'it was removed' : `remove it at Odoo by hand: "${label}"`;
  return `The key that Odoo made does not open the user of the instance; the old one stays, and ${rest}.`;
}

function explainNotRevoked(answer: OdooAnswer): string {
  if (answer.kind === 'unanswered') return explainUnanswered('removing the old key', answer);
  const said = answer.kind === 'refused' ? ` ("${answer.message}")` : '';
  return `The new key is in use, but Odoo did not remove the old one${said}: remove it at Odoo by hand, or let the user do so by call. ${PERMISSION}`;
}
