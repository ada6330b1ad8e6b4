/**
 * Decides whether a policy allows a call, and by which rule. Pure. Messages are for the caller: they say what to do,
 * and reveal nothing else of the policy.
 */
import type { ContextDefaults, DataRoute, FieldRule } from '@erp-proxy/contract';
import type { FieldUses } from '../odoo/fields/field-uses.ts';
import type { RecordCount } from '../odoo/record-count.ts';
import type { RelatedWrite, WriteMethod } from '../odoo/related/related-writes.ts';
import type { CompiledPolicy, ModelRule } from './compile.ts';
import { decideFields, describeFields } from './decide-fields.ts';
import { NOTHING_KNOWN } from './judge-fields.ts';

/** The origin of a call. */
export interface Caller {
  /** Null: not checked. */
  address: string | null;
  /** The `origin` header; null if there is none. */
  browserOrigin: string | null;
}

/** The properties of a call that a decision needs. */
export interface PolicyRequest {
  /** Name of the stored instance, or the origin and database in the call; `db` null: not checked. */
  server: { instance: string } | { origin: string; db: string | null };
  model: string;
  method: string;
  isReadOnly: boolean;
  /** Why a policy must name the method without `*`; null: it need not. */
  sensitivity: string | null;
  // These functions scan the arguments, which can be millions. Each is called at most once, last, and only if the
  // policy depends on its result.
  /** Whether the call also reads fields of related records, whatever their model. */
  readsRelated(): boolean;
  /**
   * The first write to records of a sensitive model through a related record that `allows` does not allow. Null if
   * there is none; `undetermined` if the call is too large to check.
   */
  findRelatedWrite(
    allows: (model: string, method: WriteMethod) => boolean,
  ): RelatedWrite | 'undetermined' | null;
  /** The fields that the call names. */
  listFieldUses(): FieldUses;
  /** Null if the call is not known to return records. Counts up to one more than `max`. */
  countRecords(max: number): RecordCount | null;
  readContext(): NamedContext;
}

export interface NamedContext {
  /** `allowed_company_ids`; null if it is omitted or empty. */
  allowed: readonly number[] | null;
  /** Companies in other members of the context. */
  others: readonly number[];
  /** The members that the call leaves out. Empty if the context cannot be read: it then stays as it is. */
  leftOut: readonly (keyof ContextDefaults)[];
}

export type Decision =
  | {
      allowed: true;
      rule: string;
      sets: { limit?: number } & ContextDefaults;
      /** The rule for the fields that are named in a call without fields, once its server is known. */
      lists?: FieldRule;
    }
  | DeniedDecision;

export interface DeniedDecision {
  allowed: false;
  rule: string;
  message: string;
}

/** Decides by the caller alone. Null if the key may be used from there. `compiled` null: the key has no policy. */
export function decideCaller(
  compiled: CompiledPolicy | null,
  { address, browserOrigin }: Caller,
): DeniedDecision | null {
  if (compiled === null) return browserOrigin === null ? null : deny('cors_origins', NO_POLICY_FOR_PAGES);
  const { policy, allowsAddress, allowsBrowserOrigin } = compiled;
  if (address !== null && !allowsAddress(address)) {
    return deny(
      'cidrs',
      `This key may not be used from the address ${address}. Ask the operator to allow it.`,
    );
  }
  if (browserOrigin === null && policy.publishable === true) {
    return deny(
      'publishable',
      'This key is for web pages, whose browser sends `origin`. Ask the operator for a key for programs.',
    );
  }
  if (browserOrigin !== null && !allowsBrowserOrigin(browserOrigin)) {
    return deny(
      'cors_origins',
      'This key may not be used by this web page. Call from your own server, where nobody can read the key, or ask the operator to allow the page.',
    );
  }
  return null;
}

const NO_POLICY_FOR_PAGES =
  'This key has no policy, so that no web page may use it. Call from your own server, where nobody can read the key, or ask the operator for a policy that names the page in `cors_origins`.';

/** The first rule that denies the call decides. If none does, the model's rule that allows it is named. */
export function decide(compiled: CompiledPolicy, request: PolicyRequest): Decision {
  const server = decideServer(compiled, request.server);
  if (!server.allowed) return server;
  const method = decideMethod(compiled, request);
  if (!method.allowed) return method;
  const fields = decideNamedFields(compiled, request);
  if (!fields.allowed) return fields;
  const context = decideContext(compiled, request);
  if (!context.allowed) return context;
  const records = decideRecords(compiled, request);
  if (!records.allowed) return records;
  return { ...method, ...fields, rule: method.rule, sets: { ...context.sets, ...records.sets } };
}

/** The rule because of which an allowed call needs an approval; null: it needs none. */
export function decideApproval(
  { approve }: CompiledPolicy,
  { model, method }: Pick<PolicyRequest, 'model' | 'method'>,
): string | null {
  return findRule(approve, model, method)?.name ?? null;
}

/** Decides whether the key may move data in this way. Null: it may. Each call that moves them is decided too. */
export function decideData(compiled: CompiledPolicy | null, route: DataRoute): DeniedDecision | null {
  if (compiled === null || compiled.policy.data?.includes(route)) return null;
  return deny('data', `This key may not use ${DATA_NAMES[route]}. Ask the operator to allow it in \`data\`.`);
}

const DATA_NAMES: Record<DataRoute, string> = {
  export: 'the export of records',
  changes: 'the list of changes',
  files: 'the download and upload of files',
  subscriptions: 'subscriptions',
};

function findRule(rules: readonly ModelRule[], model: string, method: string): ModelRule | undefined {
  return rules.find(({ matches, methods }) => matches(model) && methods.find(method) !== undefined);
}

/** Decides by the server alone; also for requests about a server, which name no model. */
export function decideServer(
  { allowsInstance, allowsOrigin, allowsDb }: CompiledPolicy,
  server: PolicyRequest['server'],
): Decision {
  if ('instance' in server) {
    return allowsInstance(server.instance)
      ? allow('instances')
      : deny(
          'instances',
          `This key may not call the instance "${server.instance}". Ask the operator to allow it.`,
        );
  }
  if (!allowsOrigin(server.origin)) {
    return deny(
      'origins',
      `This key may not call ${server.origin} with credentials that the call brings. Ask the operator to allow it.`,
    );
  }
  if (server.db !== null && !allowsDb(server.db)) {
    return deny('dbs', `This key may not call the database "${server.db}". Ask the operator to allow it.`);
  }
  return allow('origins');
}

function decideMethod({ policy, models }: CompiledPolicy, request: PolicyRequest): Decision {
  const { model, method, isReadOnly, sensitivity } = request;
  const ofModel = models.filter(({ matches }) => matches(model));
  const [first] = ofModel;
  if (first === undefined) {
    return deny('models', `This key may not use the model \`${model}\`. Ask the operator to allow it.`);
  }
  const rule = ofModel.find(({ methods }) => methods.find(method) !== undefined);
  if (rule === undefined) {
    return deny(
      first.name,
      `This key may not call \`${method}\` of \`${model}\`. Ask the operator to allow it.`,
    );
  }
  if (sensitivity !== null && !names(models, model, method)) {
    return deny(
      'sensitive_methods',
      `\`${method}\` of \`${model}\` ${sensitivity}: a key may call it only where its policy names both without \`*\`. Ask the operator.`,
    );
  }
  if (policy.read_only === true && !isReadOnly) {
    return deny('read_only', `This key may only read, and \`${method}\` is not known to do nothing else.`);
  }
  const allowsRelated = models.some(({ pattern, methods }) => pattern === '*' && methods.has(method));
  if (!allowsRelated && request.readsRelated()) {
    return deny(
      'models',
      'The call asks for fields of related records, of whatever model they are. Ask for the `display_name` of those only, and read the rest by calls of their own.',
    );
  }
  return isReadOnly ? allow(rule.name) : (denyRelatedWrite(models, request) ?? allow(rule.name));
}

/** Decides without the types of fields. execute/call/apply-field-rules.ts decides again with them. */
function decideNamedFields({ fields: rules, models }: CompiledPolicy, request: PolicyRequest): Decision {
  if (rules === null) return allow('fields');
  const { model, method } = request;
  const uses = request.listFieldUses();
  const decided = decideFields(
    rules,
    { model, method, isNamed: names(models, model, method), uses },
    NOTHING_KNOWN,
  );
  if (decided.kind === 'denied') return deny(decided.rule, decided.message);
  const rule = uses.unnamed === null ? null : describeFields(rules, model);
  return rule === null ? allow('fields') : { allowed: true, rule: 'fields', sets: {}, lists: rule };
}

/** Whether the policy has an entry for this model and this method, both without `*`. */
export function namesMethod({ models }: CompiledPolicy, model: string, method: string): boolean {
  return names(models, model, method);
}

function names(models: readonly ModelRule[], model: string, method: string): boolean {
  return models.some(({ pattern, methods }) => pattern === model && methods.has(method));
}

function denyRelatedWrite(models: readonly ModelRule[], request: PolicyRequest): DeniedDecision | null {
  const found = request.findRelatedWrite((model, method) => names(models, model, method));
  if (found === null) return null;
  return deny(
    'sensitive_methods',
    found === 'undetermined'
      ? 'The call has too many positional arguments, columns, or names of members to tell what it changes. Send fewer in one call.'
      : `\`${found.member}\` leads to \`${found.model}\`: a key may change that by another record only where its policy names \`${found.method}\` of \`${found.model}\` without \`*\`. Leave the member out, or ask the operator.`,
  );
}

function decideContext({ policy, allowsCompany }: CompiledPolicy, request: PolicyRequest): Decision {
  const { companies, context } = policy;
  if (companies === undefined && context === undefined) return allow('context');
  const { allowed, others, leftOut } = request.readContext();
  if (companies !== undefined && ![...(allowed ?? []), ...others].every(allowsCompany)) {
    return deny(
      'companies',
      'The context names a company that this key may not use, or does not name companies by their ids. Leave `allowed_company_ids` out to get those that the key is for.',
    );
  }
  const defaults: ContextDefaults = { ...(companies && { allowed_company_ids: companies }), ...context };
  const given = leftOut.filter((name) => defaults[name] !== undefined);
  return allow('context', Object.fromEntries(given.map((name) => [name, defaults[name]])));
}

function decideRecords({ policy: { limit_max: max } }: CompiledPolicy, request: PolicyRequest): Decision {
  const records = max === undefined ? null : request.countRecords(max);
  if (max === undefined || records === null) return allow('limit_max');
  const { asked, canLower } = records;
  if (asked !== null && asked <= max) return allow('limit_max');
  if (canLower && !Number.isNaN(asked)) return allow('limit_max', { limit: max });
  return deny(
    'limit_max',
    Number.isNaN(asked)
      ? `This key may read at most ${max} records a call, and how many \`${request.method}\` would give cannot be told: give ids as a list of integers, and a limit as an integer.`
      : `This key may read at most ${max} records a call, and this one can give more: ask for fewer.`,
  );
}

function allow(rule: string, sets: Extract<Decision, { allowed: true }>['sets'] = {}): Decision {
  return { allowed: true, rule, sets };
}

function deny(rule: string, message: string): DeniedDecision {
  return { allowed: false, rule, message };
}
