/**
 * The parts that all tools of one request use: the instances of the key, the fields of models, and calls on Odoo. All
 * calls go through the pipeline of the execute route, so that a tool can do nothing that the key may not do.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AnswerCollector } from '@erp-proxy/async/streams';
import type { SingleFlightCache } from '@erp-proxy/async/tasks';
import { type DataRoute, LIMIT_HEADER } from '@erp-proxy/contract';
import { chooseInstances, type InstanceRecord } from '@erp-proxy/control/instances';
import type { AnswerFacts, CallRunner, Denial, NeededConfirmation } from '@erp-proxy/gateway/terms';
import { findExcess, isObject, viewAsBuffer } from '@erp-proxy/json';
import { createTimePrinter, isTimeZone, type PrintTime } from '@erp-proxy/odoo/times';
import type { CompiledPolicy } from '@erp-proxy/policy';
import { mayUseField, mayUseModel } from '@erp-proxy/policy/abilities';
import { findNearestNames } from '@erp-proxy/text';
import { isIdempotencyKey } from '@erp-proxy/traffic/idempotency';
import type { ParallelCalls } from '@erp-proxy/traffic/limits';
import { explainUnknownFields, toToolError } from './call-errors.ts';
import {
  describeUnknown,
  FIELD_ATTRIBUTES,
  type Field,
  type Fields,
  listUnknown,
  readFields,
  type UnknownFields,
} from './fields.ts';
import { SLICE_BYTES } from './read-body.ts';
import { ToolError } from './tool-error.ts';

/** Dependencies that the sessions of all requests share. */
export interface SessionDeps {
  changes: ChangesSource;
  documents: DocumentsSource;
  parallelCalls: ParallelCalls;
  /** All stored instances, by name. */
  listInstances(): Promise<readonly InstanceRecord[]>;
  /** A text that identifies a policy. */
  namePolicy(policy: CompiledPolicy | null): string;
  /** Cached answers about fields and users, by key and instance. */
  known: SingleFlightCache<NonNullable<unknown>>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Called with exceptions of tools. */
  onFault: (requestId: string, error: unknown) => void;
}

export interface CallOptions {
  /** Named arguments; the context is added. */
  keyword?: Record<string, unknown>;
  /** Members of the context in addition to those of the user. */
  context?: Record<string, unknown>;
  /** The member of `data` that the policy must allow for the call. */
  data?: DataRoute;
  /** The tool's names of the positional arguments, for errors. */
  names?: readonly string[];
  /** Given for the one call of a tool that changes records. */
  change?: {
    /** Id of the approval that the call may use. */
    approval?: string | undefined;
  };
}

export interface ChangesQuery {
  model: string;
  domain: readonly unknown[];
  fields: readonly string[];
  /** The cursor; null: from the beginning. */
  since: string | null;
  limit: number;
}

/** `record` is null unless it is an `upsert`. There is no `gone`, because tools do not ask for it. */
interface ReadChange<Content> {
  change: 'upsert' | 'left' | 'gone';
  id: number;
  at: string | null;
  record: Content | null;
}

export interface ReadChanges<Content = unknown> {
  changes: readonly ReadChange<Content>[];
  cursor: string;
  more: boolean;
  /** The first field with null in place of NaN or Infinity; null if there is none. */
  nullField: string | null;
}

/** Reads changes, with records as JSON text. Implemented in packages/data/src/changes/. */
export interface ChangesSource {
  /** `bytes`: the body of a request for changes (docs/changes.md). `error`: an error answer as a whole. */
  read(
    bytes: Uint8Array,
    runner: CallRunner,
  ): Promise<ReadChanges<Uint8Array> | { denial: Denial } | { error: Uint8Array }>;
}

/** The document of a record, as a file. */
export interface FoundDocument {
  readonly name: string;
  readonly content: Buffer;
}

export interface DocumentQuery {
  model: string;
  record: number;
  report?: string | undefined;
  lang?: string | undefined;
}

/** Finds documents. Implemented in packages/data/src/documents/. */
export interface DocumentsSource {
  /** `bytes`: the body of a request for a document (docs/documents.md). `error`: an error answer as a whole. */
  read(
    bytes: Uint8Array,
    runner: CallRunner,
  ): Promise<FoundDocument | { denial: Denial } | { error: Uint8Array }>;
}

export interface UserContext {
  lang?: string;
  tz?: string;
}

/** Small enough that parsing an answer at once does not keep other callers waiting for long. */
const ANSWER_BYTES_MAX = 1024 * 1024;
/** `membersMax` allows about a hundred records of a hundred fields, each with id and name of a related record. */
const ANSWER_LIMITS = { membersMax: 30_000, valuesMax: 200_000 };
const KEPT_MS = 5 * 60_000;
/** Time for which the fields of a model are not read again because of another unknown field. */
const KEPT_FRESH_MS = 10_000;
const CALL_ID = 'mcp';
const LANGUAGE = /^[\w@-]{1,32}$/;
const INSTANCES_SHOWN_MAX = 10;

/** Thrown if a person must confirm a change first. */
export class UnconfirmedCall extends Error {
  override readonly name = 'UnconfirmedCall';
}

export class Session {
  readonly #deps: SessionDeps;
  readonly #runner: CallRunner;
  /** The limit that the policy set in the last call; null if it set none. */
  policyLimit: number | null = null;
  /** The first field for which Odoo has NaN or Infinity, which null replaces; null if there is none. */
  nullField: string | null = null;
  /** The confirmation without which the tool's change is not sent; null: none is needed. */
  confirmation: NeededConfirmation | null = null;
  /** `_meta` of the message. Its members are checked when they are used. */
  readonly #meta: Record<string, unknown>;
  /** The language that the tool call asks for. */
  #lang: string | undefined;

  constructor(runner: CallRunner, meta: Record<string, unknown>, deps: SessionDeps) {
    this.#runner = runner;
    this.#meta = meta;
    this.#deps = deps;
  }

  /** Creates a session of the same request for another tool: a batch of 2025 calls several tools. */
  fork(): Session {
    return new Session(this.#runner, this.#meta, this.#deps);
  }

  /** Reads everything that follows in this language. */
  useLanguage(lang: string): void {
    this.#lang = lang;
  }

  get policy() {
    return this.#runner.client.policy;
  }

  /** Id of the client key. */
  get keyId(): string {
    return this.#runner.client.key.id;
  }

  get requestId(): string {
    return this.#runner.exchange.requestId;
  }

  reportFault(error: unknown): void {
    this.#deps.onFault(this.requestId, error);
  }

  get clock() {
    return this.#deps.clock;
  }

  /** The instances that the key may call, by name. */
  async listInstances(): Promise<readonly InstanceRecord[]> {
    const all = await this.#deps.listInstances();
    const { policy } = this;
    return policy === null ? all : all.filter(({ name }) => policy.allowsInstance(name));
  }

  /** The instance of this name, or the only one. */
  async pickInstance(name: string | undefined): Promise<InstanceRecord> {
    const instances = await this.listInstances();
    const names = instances.map((instance) => instance.name);
    if (names.length === 0) {
      throw new ToolError('policy_denied', 'This key may use no stored instance of Odoo.', {
        next: 'Ask the operator of the proxy to store an instance and to allow it in the policy of the key.',
      });
    }
    if (name === undefined && names.length > 1) {
      throw new ToolError('invalid_params', `\`instance\` is needed, because there are ${names.length}.`, {
        nearest: names.slice(0, INSTANCES_SHOWN_MAX),
        next: 'Send `instance` with one of these names.',
      });
    }
    const found = name === undefined ? instances[0] : instances.find((instance) => instance.name === name);
    if (found !== undefined) return found;
    const near = findNearestNames(name ?? '', names, INSTANCES_SHOWN_MAX);
    throw new ToolError('invalid_params', `There is no instance "${name}" for this key.`, {
      nearest: near.length > 0 ? near : names.slice(0, INSTANCES_SHOWN_MAX),
      next: 'Send one of these names as `instance`, or leave it out if there is only one.',
    });
  }

  /** The instances that the key may call and that the names choose, in which `*` stands for any text. */
  async pickInstances(names: readonly string[]): Promise<readonly InstanceRecord[]> {
    const visible = await this.listInstances();
    const chosen = chooseInstances(visible, { by: 'instances', texts: names });
    if (!('index' in chosen)) return chosen;
    throw new ToolError('invalid_params', `No instance of this key matches "${names[chosen.index]}".`, {
      nearest: chosen.nearest,
      next: 'Send names of get_context as `instances`; "*" stands for any text.',
    });
  }

  /**
   * Runs `work`, which never rejects, for each instance, beside each other. Each gets a session of its own, with its
   * own time limit within that of the request.
   */
  async runOnEach(
    instances: readonly InstanceRecord[],
    work: (instance: InstanceRecord, session: Session) => Promise<void>,
  ): Promise<void> {
    const { parallelCalls } = this.#deps;
    const allowed = await this.#runner.acquireConcurrency(
      Math.min(instances.length, parallelCalls.requestMax),
    );
    const options = { asked: null, allowed, signal: this.#runner.signal };
    await parallelCalls.run(instances, options, async (instance) => {
      const part = this.#runner.startPart();
      const session = new Session(part, this.#meta, this.#deps);
      session.#lang = this.#lang;
      await work(instance, session).finally(part.end);
    });
  }

  /** Calls a method. Throws a {@link ToolError} for any error. */
  async call(
    instance: InstanceRecord,
    model: string,
    method: string,
    params: readonly unknown[],
    { keyword = {}, context = {}, data, names = [], change }: CallOptions = {},
  ): Promise<unknown> {
    const user = method === 'context_get' ? {} : await this.userContext(instance);
    const merged = { ...user, ...context };
    const call = {
      id: CALL_ID,
      action: method,
      model_id: model,
      params,
      keyword: { ...keyword, ...(Object.keys(merged).length > 0 ? { context: merged } : {}) },
      erp_instance: { name: instance.name },
    };
    const writer = new AnswerCollector(ANSWER_BYTES_MAX);
    let facts: AnswerFacts | null = null;
    const denial = await this.#runner.run(Buffer.from(JSON.stringify(call)), writer, {
      onAnswer(seen) {
        facts = seen;
      },
      // Only a tool that changes records takes an approval.
      ...(change === undefined
        ? {}
        : { approvalIds: change.approval === undefined ? [] : [change.approval] }),
      confirmation: change === undefined ? null : this.confirmation,
      idempotencyKey: change === undefined ? null : this.#readIdempotencyKey(),
      traceparent: this.#traceparent,
      ...(data === undefined ? {} : { data }),
    });
    if (denial !== null) throw this.#explain(denial, model, names);
    if (writer.isTooLarge) throw TOO_LARGE;
    const bytes = writer.join();
    const isLong = bytes.length > SLICE_BYTES;
    // Doing all of receiving, counting and parsing in one turn would block the event loop for too long.
    if (isLong) await nextTurn();
    if (findExcess(bytes, ANSWER_LIMITS) !== null) throw TOO_LARGE;
    if (isLong) await nextTurn();
    const answer = writer.isWhole ? readAnswer(bytes) : null;
    if (answer === null) throw BROKEN_OFF;
    if (answer === 'forged') throw FORGED;
    if (answer.error !== undefined) throw this.#explainAnswer(answer.error, model, names);
    this.nullField ??= (facts as AnswerFacts | null)?.nullField ?? null;
    const limit = writer.headers[LIMIT_HEADER];
    this.policyLimit = limit === undefined ? null : Number(limit);
    return answer.result ?? null;
  }

  #explain(error: Parameters<typeof toToolError>[0], model: string, names?: readonly string[]): ToolError {
    return toToolError(error, model, mayUseModel(this.policy, model), names);
  }

  /** The error is an UnconfirmedCall if the proxy refused the call only because the person was not asked. */
  #explainAnswer(error: NonNullable<ParsedAnswer['error']>, model: string, names: readonly string[]): Error {
    const isUnasked = this.confirmation?.by === 'person' && nameRule(error) === this.confirmation.rule;
    return isUnasked ? new UnconfirmedCall() : this.#explain(error, model, names);
  }

  get #traceparent(): string | undefined {
    const traceparent = this.#meta['traceparent'];
    return typeof traceparent === 'string' ? traceparent : undefined;
  }

  /** Reads changes of records. Throws a {@link ToolError} for any error. */
  async readChanges(instance: InstanceRecord, query: ChangesQuery): Promise<ReadChanges> {
    const { lang } = await this.userContext(instance);
    const body = {
      id: CALL_ID,
      model_id: query.model,
      domain: query.domain,
      fields: query.fields,
      since: query.since,
      limit: query.limit,
      ...(lang === undefined ? {} : { context: { lang } }),
      erp_instance: { name: instance.name },
    };
    const read = await this.#deps.changes.read(Buffer.from(JSON.stringify(body)), this.#runFor('changes'));
    if ('denial' in read) throw this.#explain(read.denial, query.model);
    if ('error' in read) throw this.#explainError(read.error, query.model);
    const changes = read.changes.map(({ record, ...change }) => ({
      ...change,
      record: record === null ? null : parse(record),
    }));
    this.nullField ??= read.nullField;
    return { ...read, changes };
  }

  /** Reads the document of a record. Throws a {@link ToolError} for any error. */
  async readDocument(instance: InstanceRecord, query: DocumentQuery): Promise<FoundDocument> {
    const { model, record, report, lang = this.#lang } = query;
    const body = {
      id: CALL_ID,
      model_id: model,
      record,
      ...(report === undefined ? {} : { report }),
      ...(lang === undefined ? {} : { lang }),
      erp_instance: { name: instance.name },
    };
    const bytes = Buffer.from(JSON.stringify(body));
    const read = await this.#deps.documents.read(bytes, this.#runFor('documents'));
    if ('denial' in read) throw this.#explain(read.denial, model);
    if ('error' in read) throw this.#explainError(read.error, model);
    return read;
  }

  /** Runs calls of a route for data. */
  #runFor(data: DataRoute): CallRunner {
    return {
      ...this.#runner,
      run: (call, writer, options) =>
        this.#runner.run(call, writer, { ...options, data, traceparent: this.#traceparent }),
    };
  }

  /** `bytes`: an error answer as a whole. */
  #explainError(bytes: Uint8Array, model: string): ToolError {
    const answer = readAnswer(bytes);
    if (answer === null || answer === 'forged' || answer.error === undefined) return BROKEN_OFF;
    return this.#explain(answer.error, model);
  }

  /** The idempotency key of the header or of `_meta`; null if there is none. */
  #readIdempotencyKey(): string | null {
    const { idempotencyKey: ofHeader } = this.#runner;
    const ofMeta = this.#meta['idempotency-key'];
    if (ofMeta === undefined) return ofHeader;
    if (typeof ofMeta === 'string' && isIdempotencyKey(ofMeta) && (ofHeader ?? ofMeta) === ofMeta)
      return ofMeta;
    throw new ToolError(
      'invalid_params',
      `\`_meta.idempotency-key\` must be a text of 1 to 255 characters${ofHeader === null ? '' : ', the same as the header'}. Nothing was changed.`,
    );
  }

  /**
   * Language and time zone: those of the tool call, else those that the policy sets, else those of the Odoo user, if
   * the key may ask for them.
   */
  async userContext(instance: InstanceRecord): Promise<UserContext> {
    const { lang, tz } = this.policy?.policy.context ?? {};
    const asked = this.#lang ?? lang;
    const own = { ...(asked === undefined ? {} : { lang: asked }), ...(tz === undefined ? {} : { tz }) };
    if (asked !== undefined && tz !== undefined) return own;
    return { ...(await this.#askUserContext(instance)), ...own };
  }

  /** Prints datetimes in the time zone of the user; in UTC if it is unknown. */
  async timePrinter(instance: InstanceRecord): Promise<PrintTime> {
    const { tz = 'UTC' } = await this.userContext(instance);
    return createTimePrinter(tz);
  }

  #askUserContext(instance: InstanceRecord): Promise<UserContext> {
    return this.#remember(`user ${this.#nameOf(instance)}`, async () => {
      const found = await this.call(instance, 'res.users', 'context_get', []).catch(nullIfRefused);
      const { lang, tz } = isObject(found) ? found : {};
      return {
        ...(typeof lang === 'string' && LANGUAGE.test(lang) ? { lang } : {}),
        ...(typeof tz === 'string' && isTimeZone(tz) ? { tz } : {}),
      };
    });
  }

  /** The fields to show if the caller names none. `known`: the model's fields; null if unknown. */
  chooseFields(known: Fields | null, choose: (fields: Fields) => string[]): string[] {
    return known === null ? ['display_name'] : choose(this.omitUnnamed(known));
  }

  /** Leaves out many2one fields whose names the key may not read, because a call that names one of them is refused. */
  omitUnnamed(fields: Fields): Fields {
    const isUnnamed = ({ type, relation }: Field) =>
      type === 'many2one' && relation !== undefined && !mayUseField(this.policy, relation, 'display_name');
    return new Map([...fields].filter(([, field]) => !isUnnamed(field)));
  }

  /** The fields of a model. Null if the key may not ask for them. */
  async fields(instance: InstanceRecord, model: string): Promise<Fields | null> {
    const found = await this.#remember(this.#nameFields(instance, model), async () => {
      const ask = (context: Record<string, unknown>) =>
        this.call(instance, model, 'fields_get', [], {
          keyword: { attributes: FIELD_ATTRIBUTES },
          context,
        });
      const { lang } = await this.userContext(instance);
      const fields = await ask({}).catch(nullIfRefused);
      if (fields === null) return NO_FIELDS;
      const isTranslated = lang !== undefined && !lang.startsWith('en');
      return readFields(fields, isTranslated ? await ask({ lang: 'en_US' }).catch(nullIfRefused) : null);
    });
    return found === NO_FIELDS ? null : found;
  }

  /** Throws if one of the fields does not exist. Does nothing if the fields of the model are unknown. */
  async checkFields(instance: InstanceRecord, model: string, names: readonly string[]): Promise<void> {
    const unknown = await this.findUnknownFields(instance, model, names);
    if (unknown.names.size > 0) throw explainUnknownFields(model, unknown.shown);
  }

  /** Finds which of the fields do not exist; none if the fields of the model are unknown. */
  async findUnknownFields(
    instance: InstanceRecord,
    model: string,
    names: readonly string[],
  ): Promise<UnknownFields> {
    if (names.every((name) => name === 'id')) return NO_UNKNOWN_FIELDS;
    const fields = await this.fields(instance, model);
    if (fields === null || fields.size === 0) return NO_UNKNOWN_FIELDS;
    const unknown = listUnknown(fields, names);
    if (unknown.size === 0) return NO_UNKNOWN_FIELDS;
    const key = this.#nameFields(instance, model);
    if (!this.#deps.known.has(`fresh ${key}`)) {
      // Reads the fields again, because the unknown one may be new.
      this.#deps.known.forget(key);
      this.#deps.known.set(`fresh ${key}`, { value: {}, ttlMs: KEPT_FRESH_MS });
      return this.findUnknownFields(instance, model, names);
    }
    return describeUnknown(fields, unknown, (name) => !mayUseField(this.policy, model, name));
  }

  #nameFields(instance: InstanceRecord, model: string): string {
    return `fields ${this.#nameOf(instance)} ${model} ${this.#lang ?? ''}`;
  }

  /** The key of cached answers. Another policy of the client, or another version of the instance, has another one. */
  #nameOf({ id, version }: InstanceRecord): string {
    return `${this.keyId} ${this.#deps.namePolicy(this.policy)} ${id}.${version}`;
  }

  /**
   * Requests of one key that need the same answer share one call. If that call fails, each other request makes its own.
   */
  async #remember<Value extends NonNullable<unknown>>(
    name: string,
    find: () => Promise<Value>,
  ): Promise<Value> {
    let isAsker = false;
    const ask = async () => {
      isAsker = true;
      return { value: await find(), ttlMs: KEPT_MS };
    };
    try {
      return (await this.#deps.known.get(name, ask)) as Value;
    } catch (error) {
      if (isAsker) throw error;
      return find();
    }
  }
}

const NO_FIELDS: Fields = new Map();
const NO_UNKNOWN_FIELDS: UnknownFields = { names: new Set(), shown: [] };

const TOO_LARGE = new ToolError(
  'upstream_bad_response',
  'The answer of Odoo is larger than 1 MiB, or has more values than are read at once.',
  {
    next: 'Ask for fewer fields or records.',
  },
);
const FORGED = new ToolError('upstream_bad_response', 'The answer of Odoo has both a result and an error.', {
  next: 'Tell the user. After a write, look first whether it was done.',
});
const BROKEN_OFF = new ToolError('upstream_unreachable', 'The answer of Odoo broke off.', {
  next: 'Try again. After a write, look first whether it was done.',
});

interface ParsedAnswer {
  result?: unknown;
  error?: Parameters<typeof toToolError>[0];
}

function nameRule(error: NonNullable<ParsedAnswer['error']>): unknown {
  return 'data' in error && isObject(error.data) ? error.data['rule'] : undefined;
}

/**
 * Null if the answer is not JSON. `forged`: the server's result contains an error member, which only the proxy may add.
 * A long answer is not checked before it reaches this function.
 */
function readAnswer(bytes: Uint8Array): ParsedAnswer | null | 'forged' {
  try {
    const answer = parse(bytes) as ParsedAnswer;
    return 'result' in answer && 'error' in answer ? 'forged' : answer;
  } catch {
    return null;
  }
}

function parse(bytes: Uint8Array): unknown {
  return JSON.parse(viewAsBuffer(bytes).toString());
}

/**
 * Null if the key, or the user of Odoo, has no right to ask: tools then work without the answer. Rethrows other errors.
 */
export function nullIfRefused(error: unknown): null {
  const isRefused =
    error instanceof ToolError && ['policy_denied', 'access_error', 'method_not_found'].includes(error.type);
  if (isRefused) return null;
  throw error;
}
