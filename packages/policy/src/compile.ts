/** Compiles a policy: computes once what decisions need, such as its patterns. */
import type { Policy } from '@erp-proxy/contract';
import { isInBlock, parseAddress, parseBlock } from '@erp-proxy/text';
import { FieldRules } from './field-rules.ts';
import { compileHiddenFields } from './hidden-fields.ts';
import { compileModelRules, type ModelRule } from './model-rules.ts';
import { compileOrigins } from './origin-pattern.ts';
import { compilePatterns } from './pattern.ts';
import { compileFollowedModels, compileReadableModels } from './readable-models.ts';

type Test<Value> = (value: Value) => boolean;

export interface CompiledPolicy {
  readonly policy: Policy;
  readonly allowsInstance: Test<string>;
  readonly allowsOrigin: Test<string>;
  readonly allowsDb: Test<string>;
  readonly allowsAddress: Test<string>;
  readonly allowsBrowserOrigin: Test<string>;
  readonly allowsCompany: Test<number>;
  /** The rules of `models`, in the order of the policy. Several rules may match one model. */
  readonly models: readonly ModelRule[];
  /** The rules of `approve`, in the order of the policy. */
  readonly approve: readonly ModelRule[];
  /** The rules of `unattended`, in the order of the policy. */
  readonly unattended: readonly ModelRule[];
  /** Null: fields are not restricted. */
  readonly fields: FieldRules | null;
  /** The fields of a model that hold credentials and that no entry of `fields` allows by name. */
  readonly hiddenOf: (model: string) => ReadonlySet<string>;
  /** Whether the records of a model may be read; null: the records of any model may be read. */
  readonly mayReadByPath: Test<string> | null;
  /** Whether paths of a call may lead to fields of a model. */
  readonly mayFollow: Test<string>;
}

/** `policy` must be a result of parsePolicy. */
export function compilePolicy(policy: Policy): CompiledPolicy {
  const { instances = [], origins = [], dbs = ['*'], models, companies, cidrs, cors_origins = [] } = policy;
  const instanceNames = compilePatterns(instances);
  const databases = compilePatterns(dbs);
  const companyIds = companies && new Set(companies);
  const known = policy.allow_unknown_methods === true ? 'all' : 'known';
  const modelRules = compileModelRules('models', models, known);
  const mayReadByPath = compileReadableModels(modelRules);
  return {
    policy,
    allowsInstance: (name) => instanceNames.find(name) !== undefined,
    allowsOrigin: compileOrigins(origins),
    allowsDb: (db) => databases.find(db) !== undefined,
    allowsAddress: cidrs === undefined ? () => true : compileNetworks(cidrs),
    allowsBrowserOrigin: compileOrigins(cors_origins),
    allowsCompany: (id) => companyIds?.has(id) ?? true,
    models: modelRules,
    // `*` stands for all methods here: more approvals are safer.
    approve: compileModelRules('approve', policy.approve ?? {}, 'all'),
    unattended: compileModelRules('unattended', policy.unattended ?? {}, known),
    fields: policy.fields === undefined ? null : new FieldRules(policy.fields),
    hiddenOf: compileHiddenFields(policy.fields ?? {}),
    mayReadByPath,
    mayFollow: compileFollowedModels(modelRules, mayReadByPath),
  };
}

/** Both functions treat IPv4-mapped IPv6 addresses as IPv4. */
function compileNetworks(cidrs: readonly string[]): Test<string> {
  const blocks = cidrs.map(parseBlock).filter((block) => block !== null);
  return (address) => {
    const bytes = parseAddress(address);
    return bytes !== null && blocks.some((block) => isInBlock(bytes, block));
  };
}
