/**
 * Checks calls that the audit has recorded against a policy, as far as their records tell: server, model, method,
 * address, and what made the call. Values are in no record. Rules that depend on them are listed, and not applied.
 */
import {
  type AuditCallView,
  type CallSource,
  type DataRoute,
  KEY_LIMITS,
  type KeyLimit,
  type Policy,
  type UncheckedRule,
} from '@erp-proxy/contract';
import { isReadOnlyMethod, listEquivalents } from '@erp-proxy/odoo';
import { NO_FIELD_USES } from '@erp-proxy/odoo/fields';
import { NO_RELATED_WRITES } from '@erp-proxy/odoo/related';
import { findSensitivity } from '@erp-proxy/odoo/sensitive';
import {
  compilePolicy,
  type DeniedDecision,
  decide,
  decideApproval,
  decideCaller,
  decideData,
  decideFleet,
  type PolicyRequest,
} from '@erp-proxy/policy';

export interface RecordedCall
  extends Pick<AuditCallView, 'instance' | 'upstream' | 'db' | 'address' | 'via'> {
  model: string;
  action: string;
}

export interface Decision {
  /** Null: the policy allows the call, as far as its record tells. */
  denied: Pick<DeniedDecision, 'rule' | 'message'> | null;
  /** The rule because of which the call needs an approval; null: it needs none. */
  approval: string | null;
}

const ALLOWED: Decision = { denied: null, approval: null };
/** Callers choose names and addresses. */
const KEPT_MAX = 10_000;

/** `policy` null: there is none. */
export function createRecordCheck(policy: Policy | null): (call: RecordedCall) => Decision {
  if (policy === null) return () => ALLOWED;
  // No record has the web origin.
  const { publishable: _, ...checked } = policy;
  const compiled = compilePolicy(checked);
  const checkAddress = keepAnswers((address: string) =>
    decideCaller(compiled, { address, browserOrigin: null }),
  );
  const checkMethod = keepAnswers((text: string): Decision => {
    const request = describeRecord(JSON.parse(text));
    const decision = decide(compiled, request);
    return decision.allowed
      ? { denied: null, approval: decideApproval(compiled, request) }
      : { denied: decision, approval: null };
  });
  return ({ instance, upstream, db, address, via, model, action }) => {
    const route = via === null ? undefined : ROUTES[via];
    const denied =
      (address === null ? null : checkAddress(address)) ??
      (route === undefined ? null : decideData(compiled, route));
    if (denied !== null) return { denied, approval: null };
    const decision = checkMethod(JSON.stringify([instance, upstream, db, model, action]));
    if (via !== 'fleet' || decision.denied !== null) return decision;
    const beyond = decideFleet(compiled, { method: action, isReadOnly: isReadOnlyMethod(action, model) });
    return beyond === null ? decision : { denied: beyond, approval: null };
  };
}

/** The rules of the policy, or the parts of them, that records do not tell enough for. */
export function listUnchecked(policy: Policy | null): UncheckedRule[] {
  if (policy === null) return [];
  // This rule is no member: it holds for each policy.
  const rules = { ...policy, sensitive_methods: true };
  const reasons = [...Object.entries(UNCHECKED), ...KEY_LIMITS.map((limit) => [limit, LIMIT] as const)];
  return reasons.flatMap(([rule, reason]) =>
    reason === null || rules[rule as keyof typeof rules] === undefined ? [] : [{ rule, reason }],
  );
}

const ROUTES: Partial<Record<CallSource, DataRoute>> = {
  export: 'export',
  changes: 'changes',
  download: 'files',
  upload: 'files',
  document: 'documents',
  subscription: 'subscriptions',
};

const LIMIT = 'records do not tell which calls came at the same time as the limit would count them';
/** By rule: why records do not tell enough for it. Null: they do, or it denies no call. */
const UNCHECKED: {
  readonly [Rule in Exclude<keyof Policy, KeyLimit> | 'sensitive_methods']-?: string | null;
} = {
  models: 'records do not tell whether a call asks for fields of related records, or changes these',
  sensitive_methods: 'records do not tell whether a call writes to sensitive models through related records',
  fields: 'records have no fields',
  companies: 'records have no context',
  limit_max: 'records have no limits and no ids',
  cors_origins: 'records have no web origin',
  publishable: 'records have no web origin',
  approve:
    'records do not tell whether a call gives values to a method that can write them, or changes related records',
  unattended: 'records do not tell which calls a person has confirmed',
  instances: null,
  fleet: null,
  origins: null,
  dbs: null,
  read_only: null,
  allow_unknown_methods: null,
  context: null,
  data: null,
  cache: null,
  cidrs: null,
};

type RecordParts = [
  instance: string | null,
  upstream: string | null,
  db: string | null,
  model: string,
  method: string,
];

/** A call without values, which no rule about values denies. */
function describeRecord([instance, upstream, db, model, method]: RecordParts): PolicyRequest {
  return {
    server: instance === null ? { origin: URL.parse(upstream ?? '')?.origin ?? '', db } : { instance },
    model,
    method,
    isReadOnly: isReadOnlyMethod(method, model),
    sensitivity: findSensitivity(model, method),
    findRelatedRead: () => null,
    listReadEffects: () => [],
    findRelatedWrites: () => NO_RELATED_WRITES,
    listEquivalents: () => listEquivalents(model, method, null),
    listFieldUses: () => NO_FIELD_USES,
    countRecords: () => null,
    readContext: () => ({ allowed: null, others: [], names: [], leftOut: [] }),
  };
}

function keepAnswers<Answer>(answer: (question: string) => Answer): (question: string) => Answer {
  const kept = new Map<string, Answer>();
  return (question) => {
    const known = kept.get(question);
    if (known !== undefined) return known;
    if (kept.size === KEPT_MAX) kept.clear();
    const found = answer(question);
    kept.set(question, found);
    return found;
  };
}
