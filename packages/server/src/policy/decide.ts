/**
 * Whether a policy allows a call, and by which rule: a pure function of the two. Messages are for the caller: they say what
 * to do, and nothing of what else the policy holds.
 */
import type { RecordCount } from '../odoo/record-count.ts';
import type { RelatedWrite, WriteMethod } from '../odoo/related/related-writes.ts';
import type { CompiledPolicy, ModelRule } from './compile.ts';

/** Where a call comes from. */
export interface Caller {
  /** Null: not looked at. */
  address: string | null;
  /** The `origin` header; null where there is none. */
  browserOrigin: string | null;
}

/** What a decision looks at. */
export interface PolicyRequest {
  /** Name of the stored instance, or the origin and database that the call brings itself; `db` null: not looked at. */
  server: { instance: string } | { origin: string; db: string | null };
  model: string;
  method: string;
  isReadOnly: boolean;
  /** Why a policy must name the method in so many words; null: it need not. */
  sensitivity: string | null;
  // These look through the arguments, which can be millions: each is asked once at most, last, and only where the policy
  // makes something of the answer.
  /** Whether the call also reads fields of related records, whatever their model. */
  readsRelated(): boolean;
  /**
   * The first change of records of a sensitive model by way of other ones that `allows` does not allow; null where there is
   * none, `untold` where the call has too much to look at.
   */
  findRelatedWrite(
    allows: (model: string, method: WriteMethod) => boolean,
  ): RelatedWrite | 'undetermined' | null;
  /** Null where the call is not known to give records. Nothing is counted further than to one more than `max`. */
  countRecords(max: number): RecordCount | null;
  readCompanies(): NamedCompanies;
}

export interface NamedCompanies {
  /** `allowed_company_ids`; null where it is left out or empty. */
  allowed: readonly number[] | null;
  /** Companies that the context names otherwise. */
  others: readonly number[];
}

export type Decision =
  | { allowed: true; rule: string; sets: { limit?: number; allowed_company_ids?: number[] } }
  | DeniedDecision;

export interface DeniedDecision {
  allowed: false;
  rule: string;
  message: string;
}

/** Whether the key may be used from there at all, whatever it is for; null where it may. `compiled` null: no policy. */
export function decideCaller(
  compiled: CompiledPolicy | null,
  { address, browserOrigin }: Caller,
): DeniedDecision | null {
  if (compiled === null) return browserOrigin === null ? null : deny('cors_origins', NO_POLICY_FOR_PAGES);
  const { allowsAddress, allowsBrowserOrigin } = compiled;
  if (address !== null && !allowsAddress(address)) {
    return deny(
      'cidrs',
      `This key may not be used from the address ${address}. Ask the operator to allow it.`,
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

/** The first rule against the call decides; where none is, the model's rule that allows it. */
export function decide(compiled: CompiledPolicy, request: PolicyRequest): Decision {
  const server = decideServer(compiled, request.server);
  if (!server.allowed) return server;
  const method = decideMethod(compiled, request);
  if (!method.allowed) return method;
  const companies = decideCompanies(compiled, request);
  if (!companies.allowed) return companies;
  const records = decideRecords(compiled, request);
  if (!records.allowed) return records;
  return { ...method, sets: { ...companies.sets, ...records.sets } };
}

/** Whether calls may go there, whatever they do; also for a question about a server, which names no model. */
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

function decideCompanies({ policy, allowsCompany }: CompiledPolicy, request: PolicyRequest): Decision {
  if (policy.companies === undefined) return allow('companies');
  const { allowed, others } = request.readCompanies();
  if (![...(allowed ?? []), ...others].every(allowsCompany)) {
    return deny(
      'companies',
      'The context names a company that this key may not use, or does not name companies by their ids. Leave `allowed_company_ids` out to get those that the key is for.',
    );
  }
  return allow('companies', allowed === null ? { allowed_company_ids: [...policy.companies] } : {});
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
