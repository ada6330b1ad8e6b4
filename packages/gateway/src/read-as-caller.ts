/**
 * Names the records of a call for the person who must approve it, by reads of its caller: its policy decides on them as
 * on any call, and they have the rights of its Odoo user. A read that is refused or fails leaves names out.
 */

import { TIMED_OUT, waitFor } from '@erp-proxy/async/tasks';
import type { ConcernedRecords } from '@erp-proxy/contract';
import { mayCall, mayUseField } from '@erp-proxy/policy/abilities';
import { applyFieldRules, type Finders } from './call/apply-field-rules.ts';
import type { Call } from './call/parse.ts';
import { nameRecords, type ReadableField, type RecordReader } from './naming/name-records.ts';
import type { CallContext } from './terms/call-context.ts';
import { Denial } from './terms/denial.ts';
import { OWN_DIALECT } from './terms/dialect.ts';
import type { NamedInstance, Target } from './terms/target.ts';
import * as largeCalls from './thread/large-calls.ts';
import type { ApprovableCall, NameConcerned, SentArguments } from './upstream/approval.ts';
import { askServer, type RunQuestion } from './upstream/ask-server.ts';

export interface ReadAsCallerDeps extends Finders {
  run: RunQuestion;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** Time limit of all reads together. After it, the call is stored without names. */
const NAMING_MS = 5_000;
/** The arguments are parsed at once. */
const ARGUMENTS_BYTES_MAX = 256 * 1024;
const METHOD = 'search_read';
/** Members of the context that decide which records the user sees, and in which language. */
const CONTEXT_MEMBERS = ['lang', 'tz', 'allowed_company_ids'];

export function createNameConcerned(deps: ReadAsCallerDeps): NameConcerned {
  return async (call, sent, context) => {
    const { signal } = context.time;
    const named = await waitFor(name(call, sent, context, deps), { signal, timeoutMs: NAMING_MS });
    return named === TIMED_OUT || !Array.isArray(named) ? null : named;
  };
}

async function name(
  { target, model, method, records }: ApprovableCall,
  { params, keyword }: SentArguments,
  context: CallContext,
  deps: ReadAsCallerDeps,
): Promise<ConcernedRecords[] | null> {
  if (params.length + keyword.length > ARGUMENTS_BYTES_MAX) return null;
  const positional: unknown[] = JSON.parse(decode(params));
  const named: Record<string, unknown> = JSON.parse(decode(keyword));
  const call = {
    model,
    method,
    positional: records === 'none' ? [null, ...positional] : positional,
    keyword: named,
  };
  return nameRecords(call, new CallerReader(target, named['context'], context, deps));
}

class CallerReader implements RecordReader {
  readonly #target: Target;
  readonly #context: CallContext;
  readonly #userContext: Record<string, unknown>;
  readonly #deps: ReadAsCallerDeps;

  constructor(target: Target, userContext: unknown, context: CallContext, deps: ReadAsCallerDeps) {
    this.#target = target;
    this.#context = context;
    this.#deps = deps;
    const given = typeof userContext === 'object' && userContext !== null ? userContext : {};
    const kept = Object.entries(given).filter(([member]) => CONTEXT_MEMBERS.includes(member));
    this.#userContext = { ...Object.fromEntries(kept), active_test: false };
  }

  async fields(model: string): Promise<ReadonlyMap<string, ReadableField> | null> {
    const { policy } = this.#context.client;
    if (!mayCall(policy, model, METHOD)) return null;
    const found = await this.#deps.fields.find({ target: this.#target, model }, [], this.#context);
    if ('failed' in found) return null;
    const isReadable = ([field, { type, relation }]: [string, ReadableField]) =>
      mayUseField(policy, model, field) &&
      // A call that names a many2one whose name the caller may not read is refused.
      (type !== 'many2one' || typeof relation !== 'string' || mayUseField(policy, relation, 'display_name'));
    return new Map([...found.types].filter(isReadable));
  }

  async read(
    model: string,
    ids: readonly number[],
    names: readonly string[],
  ): Promise<Record<string, unknown>[] | null> {
    const keyword = {
      domain: [['id', 'in', ids]],
      fields: names,
      limit: ids.length,
      context: this.#userContext,
    };
    if (!mayCall(this.#context.client.policy, model, METHOD)) return null;
    const sent = { action: METHOD, model_id: model, params: [], keyword, erp_instance: NAMELESS };
    const rows = await this.#ask(Buffer.from(JSON.stringify({ id: 'names', ...sent })));
    return Array.isArray(rows) ? rows.filter((row) => ids.includes(row?.id)) : null;
  }

  /** The result of a call; null if the policy refuses it, if it needs an approval, or if it fails. */
  async #ask(bytes: Uint8Array): Promise<unknown> {
    const { client, time } = this.#context;
    const { signal } = time;
    const span = { span: { kind: 'object' as const, start: 0, end: bytes.length }, members: null };
    const { call } = await largeCalls.parseCall(bytes, span, OWN_DIALECT, signal);
    if (call instanceof Denial) return null;
    const asked: Call = { ...call, instance: nameInstance(this.#target) };
    const allowed = await largeCalls.authorizeCall(asked, client, 'sent', signal);
    if (allowed instanceof Denial || allowed.approvalRule !== undefined) return null;
    const applied = await applyFieldRules(allowed, this.#target, this.#context, this.#deps);
    if ('reply' in applied) return null;
    const built = await largeCalls.buildMethodCall(applied.call, this.#target, OWN_DIALECT, signal);
    if (built instanceof Denial) return null;
    const answer = await askServer(built, this.#context, this.#deps.run, this.#deps.nowMs);
    return 'failed' in answer ? null : JSON.parse(answer.result.toString());
  }
}

/** Stands for the server, which is known. */
const NAMELESS = { name: 'known' };

/** For the rules of the policy about servers, which have allowed this one. */
function nameInstance({ instance, origin, pathPrefix, db, userId, apiKey }: Target): NamedInstance {
  return instance === null ? { url: origin + pathPrefix, db, userId, apiKey } : { name: instance.name };
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
