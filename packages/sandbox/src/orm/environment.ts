/** Who calls, with which context, on which data: what Odoo calls `env`. */
import type { JsonObject } from '../json/value.ts';
import { isObject } from '../json/value.ts';
import type { Personality } from '../versions/personality.ts';
import { accessError, keyError } from './fault.ts';
import type { Row } from './field.ts';
import type { Model } from './model.ts';
import type { Store } from './store.ts';

export class Environment {
  readonly store: Store;
  readonly models: ReadonlyMap<string, Model>;
  readonly personality: Personality;
  readonly uid: number;
  readonly context: JsonObject;
  /** Past all rights, as Odoo's sudo(). */
  readonly isSuperuser: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;

  constructor(parts: {
    store: Store;
    models: ReadonlyMap<string, Model>;
    personality: Personality;
    uid: number;
    clock: () => number;
    context?: JsonObject;
    isSuperuser?: boolean;
  }) {
    this.store = parts.store;
    this.models = parts.models;
    this.personality = parts.personality;
    this.uid = parts.uid;
    this.clock = parts.clock;
    this.context = parts.context ?? {};
    this.isSuperuser = parts.isSuperuser ?? false;
  }

  model(name: string): Model {
    const model = this.models.get(name);
    if (!model) throw keyError(name);
    return model;
  }

  sudo(): Environment {
    return new Environment({ ...this, isSuperuser: true });
  }

  withContext(context: unknown): Environment {
    return isObject(context) ? new Environment({ ...this, context }) : this;
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

  /** The companies of the call: those of the context, which the user must all have, else the user's own. */
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

  timeIn(ms: number): string {
    return printTime(this.clock() + ms);
  }
}

/** As Odoo writes datetimes, which are UTC. */
export function printTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
