/**
 * Decides whether a policy allows a call, and by which rule. Pure. Messages are for the caller: they say what to do,
 * and reveal nothing else of the policy.
 */
import type { ContextDefaults, DataRoute, FieldRule } from '@erp-proxy/contract';
import { findUnknown, isReadingMember, type RecordCount } from '@erp-proxy/odoo';
import type { FieldUses } from '@erp-proxy/odoo/fields';
import {
  ANY_MODEL,
  NOTHING_LEARNT,
  type RelatedMethod,
  type RelatedRead,
  type RelatedWrite,
  type RelatedWrites,
  UNDETERMINED,
} from '@erp-proxy/odoo/related';
import { findSensitivity, listDelegates } from '@erp-proxy/odoo/sensitive';
import type { LearntTypes } from '@erp-proxy/odoo/values';
import { NOTHING_KNOWN } from './check-fields.ts';
import type { CompiledPolicy } from './compile.ts';
import { decideFields, describeFields, finish, hideCredentials } from './decide-fields.ts';
import type { ModelRule } from './model-rules.ts';
import { allowsMethod } from './readable-models.ts';

/** The origin of a call. */
export interface Caller {
  /** Null: the address is not checked. */
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
  /** Why a policy must name the method without `*`; null: it need not name it. */
  sensitivity: string | null;
  // The following functions scan the arguments, which can be millions. Each is called at most once, last, and only if
  // the policy depends on its result. Related writes are searched for again each time that the types of more fields are
  // known.
  /** The first read of records of other models that is not allowed. */
  findRelatedRead(mayRead: CompiledPolicy['mayFollow']): RelatedRead | null;
  /** What else Odoo does because of the context, if the method only reads. */
  listReadEffects(): readonly RelatedWrite[];
  /** The first change of a related record that `allows` does not allow. */
  findRelatedWrites(
    allows: (model: string, method: RelatedMethod) => boolean,
    learnt: LearntTypes,
  ): RelatedWrites;
  /**
   * Of `create` and `write`, the methods whose effect the called method has; `mail.activity/create` for another model.
   */
  listEquivalents(): readonly string[];
  /** The fields that the call names. */
  listFieldUses(): FieldUses;
  /** Null if the call is not known to return records. Counts up to `max` + 1. */
  countRecords(max: number): RecordCount | null;
  readContext(): NamedContext;
}

export interface NamedContext {
  /** `allowed_company_ids`; null if it is omitted or empty. */
  allowed: readonly number[] | null;
  /** Companies in other members of the context. */
  others: readonly number[];
  /**
   * The names of the context's members. Null if the context cannot be read, or if other arguments contain a context.
   */
  names: readonly string[] | null;
  /** The members that the call leaves out. Empty if the context cannot be read: the context then stays as it is. */
  leftOut: readonly (keyof ContextDefaults)[];
}

export type Decision =
  | {
      allowed: true;
      rule: string;
      sets: { limit?: number } & ContextDefaults;
      /** For a call that names no fields: the rule for the fields that it gets, once its server is known. */
      lists?: FieldRule;
      /** True: once the server is known, the types of fields are needed for {@link decideRelatedWrites}. */
      lacksTypes?: true;
    }
  | DeniedDecision;

export interface DeniedDecision {
  allowed: false;
  rule: string;
  message: string;
}

/** Decides by the caller alone. Null if this caller may use the key. `compiled` null: the key has no policy. */
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

/**
 * The first rule that denies the call decides. If no rule denies it, the decision names the rule that allows the model.
 */
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

/**
 * The rule because of which an allowed call needs an approval, as far as can be determined without types of fields;
 * null: it needs none.
 */
export function decideApproval(
  compiled: CompiledPolicy,
  request: Pick<PolicyRequest, 'model' | 'method' | 'isReadOnly' | 'listEquivalents' | 'findRelatedWrites'>,
): string | null {
  const { approve } = compiled;
  if (approve.length === 0) return null;
  const { model, method } = request;
  const equivalents = request.listEquivalents().map((name) => {
    const [first = '', second] = name.split('/');
    return second === undefined ? findApproval(approve, model, first) : findApproval(approve, first, second);
  });
  const own = [findApproval(approve, model, method), ...equivalents].find((rule) => rule !== null) ?? null;
  return own !== null || request.isReadOnly ? own : decideRelatedApproval(compiled, request, NOTHING_LEARNT);
}

/**
 * The rule because of which an allowed call needs an approval for what it changes in related records, as a direct call
 * would. Null: it needs none.
 */
export function decideRelatedApproval(
  { approve }: CompiledPolicy,
  { findRelatedWrites }: Pick<PolicyRequest, 'findRelatedWrites'>,
  learnt: LearntTypes,
): string | null {
  if (approve.length === 0) return null;
  const decide = (model: string, method: string) =>
    model === ANY_MODEL ? findAnyApproval(approve, method) : findApproval(approve, model, method);
  const { found } = findRelatedWrites((model, method) => decide(model, method) === null, learnt);
  if (found === null || found === UNDETERMINED) return null;
  if ('model' in found) return decide(found.model, found.method);
  return decide(ANY_MODEL, 'names' in found ? 'read' : 'write');
}

/**
 * Decides whether the key may use this way of moving data, and returns null if it may. Each call on that way is decided
 * too.
 */
export function decideData(compiled: CompiledPolicy | null, route: DataRoute): DeniedDecision | null {
  if (compiled === null) return null;
  if (compiled.policy.data?.includes(route) === true)
    return route === 'documents' && compiled.fields !== null ? deny('fields', DOCUMENT_FIELDS) : null;
  return deny('data', `This key may not use ${DATA_NAMES[route]}. Ask the operator to allow it in \`data\`.`);
}

/** What a report prints is not known. */
const DOCUMENT_FIELDS =
  'This key may use some fields only (`fields`), and a document can print any field. Ask the operator for a key without `fields`.';

const DATA_NAMES: Record<DataRoute, string> = {
  export: 'the export of records',
  changes: 'the list of changes',
  files: 'the download and upload of files',
  documents: 'documents',
  subscriptions: 'subscriptions',
};

/**
 * Decides whether a call may be one of many to different instances, and returns null if it may. The policy must allow
 * each of them, too.
 */
export function decideFleet(
  compiled: CompiledPolicy | null,
  { method, isReadOnly }: Pick<PolicyRequest, 'method' | 'isReadOnly'>,
): DeniedDecision | null {
  if (isReadOnly || compiled?.policy.fleet === 'write') return null;
  return deny(
    'fleet',
    `\`${method}\` is not known to do nothing but read, and calls to many instances at once may only read. Call each instance alone, or ask the operator for a policy with \`"fleet": "write"\`.`,
  );
}

function findRule(rules: readonly ModelRule[], model: string, method: string): ModelRule | undefined {
  return rules.find((rule) => rule.matches(model) && rule.holdsFor(model, method));
}

/** The rule for the method of the model, or of a model whose fields its records have by delegation; null: none. */
function findApproval(approve: readonly ModelRule[], model: string, method: string): string | null {
  const delegates = method === 'create' || method === 'write' ? listDelegates(model) : [];
  const rules = [model, ...delegates].map((each) => findRule(approve, each, method));
  return rules.find((rule) => rule !== undefined)?.name ?? null;
}

/** The first rule for the method of any model: a change whose model cannot be determined can be one of that model. */
function findAnyApproval(approve: readonly ModelRule[], method: string): string | null {
  return approve.find(({ pattern, holdsFor }) => holdsFor(pattern, method))?.name ?? null;
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

function decideMethod(compiled: CompiledPolicy, request: PolicyRequest): Decision {
  const { policy, models, mayFollow } = compiled;
  const { model, method, isReadOnly, sensitivity } = request;
  const ofModel = models.filter(({ matches }) => matches(model));
  const [first] = ofModel;
  if (first === undefined) {
    return deny('models', `This key may not use the model \`${model}\`. Ask the operator to allow it.`);
  }
  const rule = ofModel.find(({ holdsFor }) => holdsFor(model, method));
  if (rule === undefined && !ofModel.some(({ hasStar }) => hasStar)) {
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
  if (rule === undefined) {
    return deny(
      'allow_unknown_methods',
      `\`${method}\` of \`${model}\` ${findUnknown(model, method)}, so that \`*\` does not stand for it. Ask the operator to name it: "${method}" in \`models["${model}"]\`.`,
    );
  }
  if (policy.read_only === true && !isReadOnly) {
    return deny('read_only', `This key may only read, and \`${method}\` is not known to do nothing else.`);
  }
  const readsAll = models.some(({ pattern, methods }) => pattern === '*' && methods.has(method));
  const read = readsAll ? null : request.findRelatedRead(mayFollow);
  if (read !== null) return deny('models', describeRelatedRead(read, method));
  if (isReadOnly) return decideReadEffects(compiled, request) ?? allow(rule.name);
  const related = decideRelatedWrites(compiled, request, NOTHING_LEARNT);
  if (!related.allowed) return related;
  return { ...allow(rule.name), ...(related.lacking.size > 0 && { lacksTypes: true }) };
}

/** A read can write because of its context. `read_only` has a stricter rule, for every member. */
function decideReadEffects(
  { policy, models }: CompiledPolicy,
  request: PolicyRequest,
): DeniedDecision | null {
  if (policy.read_only === true) return null;
  const found = request.listReadEffects().find((each) => !allowsMethod(models, each.model, each.method));
  return found === undefined ? null : denyRelated(models, found);
}

/**
 * Decides on the related records that a call changes or links, as far as types of fields are known. `lacking`: fields
 * whose types could still deny the call.
 */
export function decideRelatedWrites(
  { models, mayReadByPath }: CompiledPolicy,
  { findRelatedWrites }: Pick<PolicyRequest, 'findRelatedWrites'>,
  learnt: LearntTypes,
): DeniedDecision | { allowed: true; lacking: RelatedWrites['lacking'] } {
  const allows = (model: string, method: RelatedMethod) =>
    method === 'read' ? (mayReadByPath?.(model) ?? true) : allowsMethod(models, model, method);
  const { found, others, lacking } = findRelatedWrites(allows, learnt);
  if (found === null) return { allowed: true, lacking };
  const { message, ...denied } = denyRelated(models, found);
  return { ...denied, message: message + describeOthers(others) };
}

/** Decides without the types of fields. packages/gateway/src/call/apply-field-rules.ts decides again with them. */
function decideNamedFields(compiled: CompiledPolicy, request: PolicyRequest): Decision {
  const { fields: rules, models, hiddenOf } = compiled;
  const { model, method } = request;
  if (rules === null && hiddenOf(model).size === 0) return allow('fields');
  const uses = request.listFieldUses();
  const shown = hideCredentials(compiled, { model, uses }, { kind: 'all' }, NOTHING_KNOWN);
  if (shown.kind === 'denied') return deny(shown.rule, shown.message);
  const hidden = shown.kind === 'lacking' ? { deny: [...hiddenOf(model)] } : null;
  if (rules === null) return hidden === null ? allow('fields') : allowListed(hidden);
  const asked = { model, method, isNamed: names(models, model, method), uses };
  const decided = finish(decideFields(rules, asked, NOTHING_KNOWN));
  if (decided.kind === 'denied') return deny(decided.rule, decided.message);
  const rule = uses.unnamed === null ? null : (describeFields(rules, model) ?? hidden);
  return rule === null ? allow('fields') : allowListed(rule);
}

function allowListed(lists: FieldRule): Decision {
  return { allowed: true, rule: 'fields', sets: {}, lists };
}

/** Whether the policy has an entry that names this model and this method without `*`. */
export function namesMethod({ models }: CompiledPolicy, model: string, method: string): boolean {
  return names(models, model, method);
}

function names(models: readonly ModelRule[], model: string, method: string): boolean {
  return models.some(({ pattern, methods }) => pattern === model && methods.has(method));
}

function describeRelatedRead(read: RelatedRead, method: string): string {
  return read === 'fields'
    ? `The call asks for fields of related records, of whatever model they are. Ask for the \`display_name\` of those only, and read the rest by calls of their own, or ask the operator to add \`{"*": ["${method}"]}\` to \`models\`.`
    : `${read.named} reads records of \`${read.model}\`, which this key may not read. Leave it out, or ask the operator to add \`{"${read.model}": ["read"]}\` to \`models\`.`;
}

function denyRelated(
  models: readonly ModelRule[],
  found: NonNullable<RelatedWrites['found']>,
): DeniedDecision {
  if (found === UNDETERMINED) {
    return deny(
      'sensitive_methods',
      'The call has too many positional arguments, columns, or names of members to tell what it changes. Send fewer in one call.',
    );
  }
  if ('unknown' in found) {
    const { unknown, of } = found;
    return deny(
      'models',
      of === null
        ? `The default \`${unknown}\` is no field of the model of the call, so that the proxy cannot tell which records its list or object changes. Only a policy that allows all models and methods (\`{"*": ["*"]}\`) allows links there. Leave it out, or give the values in the record.`
        : `\`${unknown}\` has a list or object, and the server describes no such field of \`${of}\` to this user, so that the proxy cannot tell what it changes. Leave it out.`,
    );
  }
  if ('names' in found) {
    const { names, by, isModel } = found;
    if (by === 'active_model') {
      return deny(
        'models',
        `\`${names}\` of the context names records, and the proxy cannot tell of which model they are. Name the model in \`active_model\` beside it.`,
      );
    }
    const advice = isModel
      ? `Leave it out, and name the model of a new record in \`default_${by}\` of the context. For an activity, you can also call \`activity_schedule\` of its record.`
      : `Name the model in \`${by}\` beside it, or, for a new record, in \`default_${by}\` of the context.`;
    return deny(
      'models',
      `\`${names}\` leads to a record whose name Odoo then shows, and the proxy cannot tell of which model it is. ${advice}`,
    );
  }
  const { member, model, method } = found;
  if (method === 'read') {
    return deny(
      'models',
      `\`${member}\` links records of \`${model}\`: a key may do that only if it may read them. Leave the member out, or ask the operator to add \`{"${model}": ["read"]}\` to \`models\`.`,
    );
  }
  const isNamed = findRule(models, model, method) !== undefined || findSensitivity(model, method) !== null;
  return deny(
    isNamed ? 'sensitive_methods' : 'models',
    isNamed
      ? `\`${member}\` leads to \`${model}\`: a key may change that by another record only where its policy names \`${method}\` of \`${model}\` without \`*\`. Leave the member out, or ask the operator.`
      : `\`${member}\` changes records of \`${model}\`: a key may do that only if it may call \`${method}\` of \`${model}\`. Leave the member out, or ask the operator to add \`{"${model}": ["${method}"]}\` to \`models\`.`,
  );
}

/** The other methods that the policy lacks for the call, so that an operator can add all at once. */
function describeOthers(others: RelatedWrites['others']): string {
  if (others.length === 0) return '';
  const entries = others.map(({ model, method }) => `\`${method}\` of \`${model}\``);
  return ` The call also needs ${entries.join(', ')}.`;
}

function decideContext({ policy, allowsCompany }: CompiledPolicy, request: PolicyRequest): Decision {
  const { companies, context, read_only: readsOnly } = policy;
  if (companies === undefined && context === undefined && readsOnly !== true) return allow('context');
  const { allowed, others, names, leftOut } = request.readContext();
  if (readsOnly === true) {
    if (names === null) {
      return deny(
        'read_only',
        'This key may only read, and the call has a context that is no object, has a member twice, or is within another argument. Give one `context`, as an object.',
      );
    }
    const unknown = names.find((name) => !isReadingMember(name));
    if (unknown !== undefined) {
      return deny(
        'read_only',
        `This key may only read, and the member \`${unknown}\` of the context is not known to do nothing else. Leave it out.`,
      );
    }
  }
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
  const { asked, canLower, advice = 'ask for fewer' } = records;
  if (asked !== null && asked <= max) return allow('limit_max');
  if (canLower && !Number.isNaN(asked)) return allow('limit_max', { limit: max });
  if (records.isOfSpecification === true) {
    return deny(
      'limit_max',
      `This key may read at most ${max} related records of a field for each record. Each field with \`fields\` in a specification needs a \`limit\` up to that, and limits of fields within each other are multiplied. Paths of \`export_data\` and \`onchange\` have none.`,
    );
  }
  return deny(
    'limit_max',
    Number.isNaN(asked)
      ? `This key may read at most ${max} records a call, and how many \`${request.method}\` would give cannot be told: give ids as a list of integers, and a limit as an integer.`
      : `This key may read at most ${max} records a call, and this one can give more: ${advice}.`,
  );
}

function allow(rule: string, sets: Extract<Decision, { allowed: true }>['sets'] = {}): Decision {
  return { allowed: true, rule, sets };
}

function deny(rule: string, message: string): DeniedDecision {
  return { allowed: false, rule, message };
}
