/**
 * Steps: the approval of a call whose policy asks for one. Without an approval the call is stored for an administrator
 * and refused. With one it runs once: the approval is used right before the call is sent, and can be used again only if
 * the call was surely not run. A call that a person must confirm first ends here too: the policy has
 * allowed it, and the call was not asked for before.
 */
import { APPROVAL_HEADER, type ConcernedRecords, nameActor } from '@erp-proxy/contract';
import type { Approvals, CallApproval, Standing } from '@erp-proxy/control/approvals';
import { findValue, readDocument, readMembers } from '@erp-proxy/json';
import { findRemoval, type LackingFields } from '@erp-proxy/odoo/related';
import type { FieldTypes } from '@erp-proxy/odoo/values';
import { askInTime } from '../terms/ask-store.ts';
import { type CallContext, unlessChanged } from '../terms/call-context.ts';
import { Denial } from '../terms/denial.ts';
import type { FieldFinder } from '../terms/field-finder.ts';
import type { NamedRecords, TargetedCall } from '../terms/method-call.ts';
import type { Step } from '../terms/operation.ts';
import { hasNotRun } from '../terms/reply.ts';
import type { Target } from '../terms/target.ts';
import { CALLER_GONE, CHANGED } from '../terms/upstream-denials.ts';
import { TaskAborted } from '../thread/run-in-thread.ts';
import { nameUser } from './target-names.ts';

export interface ApprovalDeps {
  approvals: Approvals;
}

/** The parts that differ between operations. */
export interface ApprovalParts<Call> {
  /** Its name. */
  operation: string;
  readArguments: (call: Call) => SentArguments;
  nameConcerned: NameConcerned;
  /** Absent: calls of the operation need no confirmation. */
  needsConfirmation?: (call: Call, context: CallContext) => Promise<boolean>;
}

/** Names the records of a call as its caller may read them; null: not in time. Does not reject because of Odoo. */
export type NameConcerned = (
  call: ApprovableCall,
  sent: SentArguments,
  context: CallContext,
) => Promise<ConcernedRecords[] | null>;

export interface ApprovableCall {
  target: Target;
  model: string;
  method: string;
  records?: NamedRecords;
}

/** The texts that Odoo gets as arguments: JSON. */
export interface SentArguments {
  params: Uint8Array;
  keyword: Uint8Array;
}

/** Time for the store, for each of the two steps. */
const STORE_WAIT_MS = 1000;
/** Decisions of people take longer. */
const RETRY_AFTER_FULL_SECONDS = 60;

/** Finds the approval of the call, or asks for one. Runs after an idempotency key has not given an answer. */
export function requireApproval<Call extends ApprovableCall>(
  parts: ApprovalParts<Call>,
  { approvals }: ApprovalDeps,
): Step<Call> {
  const { operation, readArguments, nameConcerned, needsConfirmation } = parts;
  return async function requireApproval(call, context, next) {
    const { confirmation: asked, approvalIds } = context;
    const confirmation = asked !== null && (await needsConfirmation?.(call, context)) ? asked : null;
    const asksPerson = confirmation?.by === 'person';
    const rule = context.approvalRule ?? (asksPerson ? null : (confirmation?.rule ?? null));
    if (rule === null) return asksPerson ? denyUnconfirmed(confirmation.rule) : await next(context);
    if (approvalIds === null) return denyWithoutApprovals(call, rule);
    // Nobody is asked about a call that the policy denies now, or allows.
    if (!(await context.isUnchanged())) return CHANGED;
    const sent = readArguments(call);
    const approval = approvals.begin({
      clientId: context.client.key.clientId,
      operation: `${operation} ${nameUserOrKey(call.target)}`,
      facts: describeFacts(call, rule, context),
      ...sent,
    });
    const toAsk = {
      rule,
      approvalIds,
      unconfirmed: asksPerson ? confirmation.rule : null,
      nameConcerned: () => nameConcerned(call, sent, context),
    };
    const denied = await require(approval, toAsk, context);
    return denied === null ? await next(context) : await unlessChanged(context, denied);
  };
}

/** Uses the approval right before the call is sent. From here on a crash means that Odoo may have run the call. */
export function claimApproval(): Step<object> {
  return async function claimApproval(_call, context, next) {
    const { approval, time } = context;
    if (approval === null) return await next(context);
    if (time.hasCallerLeft) return CALLER_GONE;
    const denied = await claim(approval, context);
    try {
      const reply = denied === null ? await next(context) : await unlessChanged(context, denied);
      if (hasNotRun(reply)) await approval.release();
      return reply;
    } catch (error) {
      // The time limit of the call passed before the call was sent (run-call.ts).
      if (error instanceof TaskAborted) await approval.release();
      throw error;
    }
  };
}

interface Asked {
  rule: string;
  /** Those that the caller has named. */
  approvalIds: readonly string[];
  /** The rule because of which a person must confirm the call before it is asked for; null: none. */
  unconfirmed: string | null;
  nameConcerned(): ReturnType<NameConcerned>;
}

async function require(approval: CallApproval, asked: Asked, context: CallContext): Promise<Denial | null> {
  const { rule, approvalIds, unconfirmed, nameConcerned } = asked;
  const inTime = { context, waitMs: STORE_WAIT_MS };
  let standing = await askInTime<Standing | null | Denial>(() => approval.find(approvalIds), inTime);
  if (standing === null) {
    if (unconfirmed !== null) return denyUnconfirmed(unconfirmed);
    const concerns = await nameConcerned();
    standing = await askInTime(() => approval.ask(concerns), inTime);
  }
  if (standing instanceof Denial) return standing;
  if ('id' in standing) context.trace.approval = standing.id;
  if (standing.kind !== 'approved') return deny(standing, rule, approvalIds.length > 0);
  context.approval = approval;
  return null;
}

async function claim(approval: CallApproval, context: CallContext): Promise<Denial | null> {
  // The call is not sent if the store answers later.
  const onLate = () => void approval.release();
  const isClaimed = await askInTime(() => approval.claim(), { context, waitMs: STORE_WAIT_MS, onLate });
  if (isClaimed instanceof Denial) return isClaimed;
  return isClaimed ? null : new Denial('policy_denied', LOST, { rule: findRule(context) });
}

function findRule({ approvalRule, confirmation }: CallContext): string {
  return approvalRule ?? confirmation?.rule ?? '';
}

/** The program of the agent asks the person, and makes the call again after a yes. */
function denyUnconfirmed(rule: string): Denial {
  return new Denial('approval_required', 'A person must confirm this call before it is sent.', { rule });
}

/** The request makes calls that its caller does not see, such as the pages of an export. */
function denyWithoutApprovals({ model, method }: ApprovableCall, rule: string): Denial {
  return new Denial(
    'policy_denied',
    `An administrator must approve each call of \`${method}\` of \`${model}\`, and those of this request cannot be approved one by one. Use an execute call, or ask the operator.`,
    { rule },
  );
}

/** In a call of `/json/2` the key determines the user, so the approval is for this key. */
function nameUserOrKey(target: Target): string {
  return isUserKnown(target) ? nameUser(target) : `${nameUser(target)} ${target.credentialsId}`;
}

function isUserKnown({ userId }: Target): boolean {
  return userId !== 0;
}

function describeFacts({ target, model, method }: ApprovableCall, rule: string, context: CallContext) {
  const { client, request } = context;
  return {
    keyId: client.key.id,
    ...(request.actor === null ? null : { actor: JSON.stringify(nameActor(request.actor)) }),
    address: (request.actor ?? request.exchange).address ?? '',
    instance: target.instance?.name ?? null,
    upstream: target.origin + target.pathPrefix,
    db: target.db,
    userId: isUserKnown(target) ? target.userId : null,
    model,
    action: method,
    rule,
  };
}

/** `hasNamed`: the caller has named approvals, none of which is for this call if another one is asked for. */
function deny(standing: Exclude<Standing, { kind: 'approved' }>, rule: string, hasNamed: boolean): Denial {
  const refuse = (message: string) => new Denial('policy_denied', message, { rule });
  const wait = (message: string, approval: string) =>
    new Denial('approval_required', message, { rule, approval });
  const isFull = (message: string) =>
    new Denial('rate_limited', `${message} Nothing was sent to Odoo.`, {
      rule,
      retryAfterSeconds: RETRY_AFTER_FULL_SECONDS,
    });
  switch (standing.kind) {
    case 'pending': {
      const { id, until, isNew } = standing;
      const found =
        isNew && hasNamed ? `No id in \`${APPROVAL_HEADER}\` is for this call as it is now. ` : '';
      return wait(
        `${found}An administrator must approve this call: ${isNew ? 'it now waits' : 'it waits'} as ${id}, until ${showTime(until)}. ${SEND_AGAIN} \`${APPROVAL_HEADER}: ${id}\` once it is approved.`,
        id,
      );
    }
    case 'unnamed': {
      const { id, until } = standing;
      return wait(
        `This call is approved, and runs once: ${lowerFirst(SEND_AGAIN)} \`${APPROVAL_HEADER}: ${id}\` before ${showTime(until)}.`,
        id,
      );
    }
    case 'refused': {
      const { id, until, reason } = standing;
      const because = reason === null ? '' : ` (${reason})`;
      return refuse(
        `An administrator has refused this call, ${id}${because}. It can be asked for again after ${showTime(until)}, without \`${APPROVAL_HEADER}\`.`,
      );
    }
    case 'used':
      return refuse(`The approval ${standing.id} is used: the call has run, or may have. ${ASK_AGAIN}`);
    case 'expired':
      return refuse(`The time of the approval ${standing.id} is over, and it was not used. ${ASK_AGAIN}`);
    case 'client_full':
      return isFull(
        'This client has as many calls waiting for approval as the setting `approvals.clientMax` allows. Send the call again when some are decided.',
      );
    case 'full':
      return isFull(
        'As many calls wait for approval as the setting `approvals.totalMax` allows. Send the call again when some are decided.',
      );
    case 'too_large':
      return refuse(
        `This call needs the approval of an administrator, who could not read it: its arguments have more than ${standing.bytesMax} bytes. Send several smaller calls.`,
      );
  }
}

const SEND_AGAIN = 'Send the same call again with the header';
const ASK_AGAIN = `Look in Odoo before you run it once more. To ask for another approval, send the call without \`${APPROVAL_HEADER}\`.`;
const LOST =
  'Another attempt has used this approval, or its time is over. This attempt was not run. Look in Odoo whether the other one was.';

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function showTime(time: number): string {
  return new Date(time).toISOString();
}

/** Commands are nested through at most this number of models, as in convert-values.ts. */
const MODELS_MAX = 16;

export type NeedsConfirmation = (call: TargetedCall, context: CallContext) => Promise<boolean>;

/**
 * Decides whether a person must confirm a call before it is sent. If that depends on the values, they are checked as
 * Odoo gets them, by the types of fields. What cannot be known counts as a removal.
 */
export function createNeedsConfirmation(fields: FieldFinder): NeedsConfirmation {
  return async (call, context) => {
    const { confirmation } = context;
    if (confirmation === null) return false;
    return confirmation.of === 'all' || (await removesRecords(call, context, fields));
  };
}

async function removesRecords(
  call: TargetedCall,
  context: CallContext,
  fields: FieldFinder,
): Promise<boolean> {
  const types = new Map<string, FieldTypes>();
  const asked = new Map<string, Set<string>>();
  for (;;) {
    const found = findIn(call, { types, asked });
    if (typeof found === 'boolean') return found;
    for (const [model, names] of found) {
      if (!asked.has(model) && asked.size === MODELS_MAX) return true;
      const known = asked.get(model) ?? new Set();
      asked.set(model, known);
      for (const name of names) known.add(name);
      const learnt = await fields.find({ target: call.target, model }, names, context);
      if ('types' in learnt) types.set(model, learnt.types);
    }
  }
}

function findIn(
  { model, params, keyword }: TargetedCall,
  learnt: Parameters<typeof findRemoval>[2]['learnt'],
): boolean | LackingFields {
  const inParams = findRemoval(params, { start: 0, end: params.length }, { model, learnt });
  if (inParams !== false) return inParams;
  const { root } = readDocument(keyword);
  const context = findValue(readMembers(keyword, root), 'context');
  return context === undefined ? false : findRemoval(keyword, context, { model: null, learnt });
}
