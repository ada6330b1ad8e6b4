/** One running Odoo: its version, its data, its users, and counters of requests. Independent of the protocol. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiKeyOptions, seedApiKeys } from '../data/api-keys.ts';
import { seedStore } from '../data/seed-store.ts';
import { database, users } from '../data/users.ts';
import { Binary, generateBinary } from '../json/binary.ts';
import type { Json } from '../json/value.ts';
import { allModels } from '../models/all-models.ts';
import { findApiKey } from '../models/api-key.ts';
import { createEnvironment } from '../orm/environment.ts';
import { accessDenied, Fault, keyError } from '../orm/fault.ts';
import type { Environment, Model } from '../orm/model.ts';
import { buildModels } from '../orm/registry.ts';
import type { Row } from '../orm/row.ts';
import type { Reads, Store } from '../orm/store.ts';
import { createRow, recordMissing } from '../orm/write.ts';
import type { VersionDefinition } from '../versions/version-definition.ts';
import { LoginCooldown } from './login-cooldown.ts';
import { openTransaction, type SandboxTransaction } from './sandbox-transaction.ts';

/** Counters of requests, for tests. */
export interface Requests {
  readonly total: number;
  /** Number of calls by `model.method`, for example `res.partner.read`. Refused calls are not counted. */
  readonly calls: Readonly<Record<string, number>>;
  /**
   * By route, even if the version lacks it: `/jsonrpc`, `/json/2`, `/doc-bearer`, `/web/version`, …; unknown paths are
   * `other`.
   */
  readonly routes: Readonly<Record<string, number>>;
  readonly wrongKeys: number;
}

interface Counters {
  total: number;
  readonly calls: Record<string, number>;
  readonly routes: Record<string, number>;
  wrongKeys: number;
}

/** A call of a model's method, before it runs. */
export interface SandboxCall {
  readonly model: string;
  readonly method: string;
  readonly userId: number;
}

export type CallListener = (call: SandboxCall) => void | Promise<void>;

export interface SandboxFile {
  readonly name: string;
  /** The bytes, or the size of a file whose bytes are generated as they are read. */
  readonly content: Buffer | number;
  /** By default, the type is chosen by the extension of the name. */
  readonly mimetype?: string;
  readonly resModel?: string;
  readonly resId?: number;
}

export interface InstanceOptions extends ApiKeyOptions {
  /** Delay of the answer to a wrong key, in milliseconds. */
  readonly authDelayMs: number;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Number of generated rows by model. */
  readonly records: Readonly<Record<string, number>>;
  /** Runs after authentication and before the method. */
  readonly beforeCall: CallListener;
}

/** The models of each version. They are never changed: an instance that removes a field gets a copy of the model. */
const MODELS = new WeakMap<VersionDefinition, ReadonlyMap<string, Model>>();

function findModels(personality: VersionDefinition): ReadonlyMap<string, Model> {
  const models = MODELS.get(personality) ?? buildModels(allModels, personality);
  MODELS.set(personality, models);
  return models;
}

export class Instance {
  readonly personality: VersionDefinition;
  readonly requests: Counters;
  /** `model/field` of the fields that were removed. */
  readonly #removed: Set<string>;
  #models: ReadonlyMap<string, Model>;
  readonly #seed: Store;
  readonly #options: InstanceOptions;
  /** Undefined: wrong keys have no consequences. */
  readonly #cooldown: LoginCooldown | undefined;
  #store: Store;

  /** `before`: the instance whose data and counters this one takes over. */
  constructor(personality: VersionDefinition, options: InstanceOptions, before?: Instance) {
    this.personality = personality;
    this.#options = options;
    this.#models = findModels(personality);
    this.#seed = seedStore(this.#models, seedApiKeys(options), options.records);
    this.#store = before ? before.#store : this.#seed.branch();
    this.#cooldown = personality.wire.coolsDownLogins ? new LoginCooldown(options.clock) : undefined;
    this.#removed = before ? before.#removed : new Set();
    for (const name of this.#removed) this.#dropField(name);
    this.requests = before?.requests ?? { total: 0, calls: {}, routes: {}, wrongKeys: 0 };
  }

  /**
   * Returns an instance of another version with the same data. This one stays usable, so that running requests end as
   * they began.
   */
  upgrade(personality: VersionDefinition): Instance {
    return new Instance(personality, this.#options, this);
  }

  reset(): void {
    this.#store.rollbackAll();
    this.#store = this.#seed.branch(this.#store.reads);
    this.#removed.clear();
    this.#models = findModels(this.personality);
    this.#cooldown?.clear();
  }

  /** Counts a call that passed authentication, and gives tests the chance to disturb or delay it. */
  async beginCall(model: string, method: string, userId: number): Promise<void> {
    const name = `${model}.${method}`;
    this.requests.calls[name] = (this.requests.calls[name] ?? 0) + 1;
    await this.#options.beforeCall({ model, method, userId });
  }

  countRoute(name: string): void {
    this.requests.routes[name] = (this.requests.routes[name] ?? 0) + 1;
  }

  get reads(): Readonly<Reads> {
    return this.#store.reads;
  }

  begin(): SandboxTransaction {
    const store = this.#store.begin();
    return openTransaction(this.environment(users.admin.userId, store), store, () =>
      this.forgetCredentials(),
    );
  }

  /** Creates an attachment and returns its id. */
  addFile({ name, content, mimetype, resModel, resId }: SandboxFile): number {
    const datas = typeof content === 'number' ? generateBinary(content) : Binary.of([content]);
    const values = {
      name,
      datas,
      mimetype: mimetype ?? null,
      res_model: resModel ?? null,
      res_id: resId ?? null,
    };
    const environment = this.environment(users.admin.userId);
    return this.#store.transact(() => createRow(environment, environment.model('ir.attachment'), values));
  }

  /**
   * Changes a row like an SQL statement: without rights, checks, computed fields and a new `write_date`. null deletes
   * the row.
   */
  putRaw(modelName: string, id: number, values: Row | null): void {
    const model = this.environment(0).model(modelName);
    const row = this.#store.get(model.name, id) ?? { id };
    this.#store.transact(() =>
      this.#store.put(model.name, id, values ? { ...row, ...values, id } : undefined),
    );
  }

  /** Removes a field, as if a module were uninstalled. Running calls still have the field. */
  removeField(model: string, field: string): void {
    if (!this.environment(0).model(model).fields.has(field))
      throw new Error(`${model} has no field ${field}.`);
    for (const [other, name] of this.#listRelated(model, field)) this.removeField(other, name);
    this.#removed.add(`${model}/${field}`);
    this.#dropField(`${model}/${field}`);
    const described = this.#store.table('ir.model.fields').where('name', field);
    for (const row of described) {
      if (row['model'] === model) this.putRaw('ir.model.fields', row['id'] as number, null);
    }
  }

  /** The fields of other models that show this field. */
  #listRelated(model: string, field: string): [model: string, field: string][] {
    return [...this.#models.values()].flatMap(({ name, fields }) =>
      [...fields.values()].flatMap(({ name: other, related }): [string, string][] => {
        const [link = '', shown] = related?.split('.') ?? [];
        return shown === field && fields.get(link)?.relation === model ? [[name, other]] : [];
      }),
    );
  }

  #dropField(path: string): void {
    const [name = '', field = ''] = path.split('/');
    const model = this.#models.get(name);
    if (!model) return;
    const fields = new Map(model.fields);
    fields.delete(field);
    this.#models = new Map(this.#models).set(name, { ...model, fields });
  }

  environment(uid: number, store = this.#store): Environment {
    const { clock } = this.#options;
    return createEnvironment({
      store,
      models: this.#models,
      personality: this.personality,
      uid,
      startedMs: clock(),
    });
  }

  /** Whether X-Odoo-Database is valid. Without the header, the only database is used. */
  servesDatabase(name: string | undefined): boolean {
    return !name || name === database;
  }

  /**
   * Any other database fails with PostgreSQL's error; `x_not_odoo…` exists but is empty
   * (docs/odoo-facts.md#database-not-restricted).
   */
  openDatabase(name: string): void {
    if (name === database) return;
    if (name === '') throw this.personality.texts.emptyDatabase();
    if (name.startsWith('x_not_odoo')) throw keyError('res.users');
    throw new Fault(
      'psycopg2.OperationalError',
      `connection to server at "127.0.0.1", port 5432 failed: FATAL:  database "${name}" does not exist\n`,
    );
  }

  /** The user of an API key; undefined if the key is invalid or expired. */
  findUser(key: string): number | undefined {
    const uid = findApiKey(this.environment(0), key)?.['user_id'] as number | undefined;
    return uid !== undefined && this.#isActive(uid) ? uid : undefined;
  }

  /** False for an archived user (docs/odoo-facts.md#archived-users). */
  #isActive(uid: number): boolean {
    return this.#store.get('res.users', uid)?.['active'] === true;
  }

  /** Called when a user is written: forgets the correct pairs of user and key. */
  forgetCredentials(): void {
    this.#cooldown?.forget();
  }

  async checkKey(uid: number, key: Json | undefined, address: string): Promise<void> {
    if (!key) throw accessDenied();
    const check = () => this.#checkKey(uid, key);
    await (this.#cooldown?.guard(address, `${uid} ${String(key)}`, check) ?? check());
  }

  async #checkKey(uid: number, key: Json | undefined): Promise<void> {
    // OdooBot and the public user are refused before the key is checked.
    if (!key || typeof key !== 'string' || uid <= 1) throw accessDenied();
    const known = Object.values(users).find((user) => user.userId === uid && this.#isActive(uid));
    if (key === known?.password || this.findUser(key) === uid) return;
    if (!this.#store.get('res.users', uid)) {
      const environment = this.environment(uid);
      throw recordMissing(environment, environment.model('res.users'), uid);
    }
    await this.#refuseKey();
    throw accessDenied();
  }

  /** The user's id, or undefined for wrong credentials. */
  async logIn(login: string, password: string, address: string): Promise<number | undefined> {
    const check = () => this.#logIn(login, password);
    // Odoo turns a refusal of the cooldown into `false`, like any other refusal.
    return this.#cooldown ? this.#cooldown.guard(address, null, check).catch(() => undefined) : check();
  }

  async #logIn(login: string, password: string): Promise<number | undefined> {
    const user = Object.values(users).find((known) => known.login === login && this.#isActive(known.userId));
    if (user && (password === user.password || this.findUser(password) === user.userId)) return user.userId;
    await this.#refuseKey();
    return undefined;
  }

  // Odoo hashes every wrong key with 600 000 rounds and never caches the result (docs/odoo-facts.md#wrong-key-cost).
  async #refuseKey(): Promise<void> {
    this.requests.wrongKeys++;
    const { authDelayMs } = this.#options;
    if (authDelayMs > 0) await sleep(authDelayMs);
  }
}
