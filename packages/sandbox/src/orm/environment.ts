/** Creates the environment of a call. */
import type { JsonObject } from '../json/value.ts';
import { isObject } from '../json/value.ts';
import type { Personality } from '../versions/personality.ts';
import { accessError, keyError } from './fault.ts';
import type { Environment, Model } from './model.ts';
import type { Row } from './row.ts';
import type { Store } from './store.ts';

interface EnvironmentParts {
  store: Store;
  models: ReadonlyMap<string, Model>;
  personality: Personality;
  uid: number;
  /** Start of the transaction, in milliseconds since 1970. */
  startedMs: number;
  context?: JsonObject;
  isSuperuser?: boolean;
}

export function createEnvironment(parts: EnvironmentParts): Environment {
  return new CallEnvironment(parts);
}

class CallEnvironment implements Environment {
  readonly store: Store;
  readonly models: ReadonlyMap<string, Model>;
  readonly personality: Personality;
  readonly uid: number;
  readonly context: JsonObject;
  readonly isSuperuser: boolean;
  readonly startedMs: number;

  constructor(parts: EnvironmentParts) {
    this.store = parts.store;
    this.models = parts.models;
    this.personality = parts.personality;
    this.uid = parts.uid;
    this.startedMs = parts.startedMs;
    this.context = parts.context ?? {};
    this.isSuperuser = parts.isSuperuser ?? false;
  }

  model(name: string): Model {
    const model = this.models.get(name);
    if (!model) throw keyError(name);
    return model;
  }

  sudo(): Environment {
    return new CallEnvironment({ ...this, isSuperuser: true });
  }

  withContext(context: unknown): Environment {
    return isObject(context) ? new CallEnvironment({ ...this, context }) : this;
  }

  get user(): Row {
    return this.store.get('res.users', this.uid) ?? {};
  }

  hasGroup(group: string): boolean {
    return this.isSuperuser || (this.user['groups'] as string[] | undefined)?.includes(group) === true;
  }

  get userCompanyIds(): readonly number[] {
    return (this.user['company_ids'] as number[] | undefined) ?? [];
  }

  get companyIds(): readonly number[] {
    const asked = this.context['allowed_company_ids'];
    if (!Array.isArray(asked) || asked.length === 0) return this.userCompanyIds;
    if (!this.isSuperuser && asked.some((id) => !this.userCompanyIds.includes(id as number))) {
      throw accessError('Access to unauthorized or invalid companies.');
    }
    return asked as number[];
  }

  get companyId(): number {
    return (this.companyIds === this.userCompanyIds ? this.user['company_id'] : this.companyIds[0]) as number;
  }

  get now(): string {
    return this.timeIn(0);
  }

  get startedAt(): string {
    return printInstant(this.startedMs);
  }

  timeIn(ms: number): string {
    return printTime(this.startedMs + ms);
  }
}

/** Prints a datetime like Odoo, in UTC. */
export function printTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** Prints a datetime with microseconds, which are the fraction of a millisecond. */
export function printInstant(ms: number): string {
  const micros = Math.floor(ms * 1000);
  return `${printTime(micros / 1000)}.${String(micros % 1_000_000).padStart(6, '0')}`;
}
