/** All differences of one Odoo version: its behaviour, and the fields and methods of its models. */
import type { FieldSpec, Method } from '../orm/model.ts';
import type { Personality } from './personality.ts';

export interface VersionDefinition extends Personality {
  /** Models that the version lacks. */
  readonly absentModels: readonly string[];
  /** Differing orders of records, by model. */
  readonly orders: Readonly<Record<string, string>>;
  /** Differing methods, by `method` or `model/method`. undefined: the version lacks it. */
  readonly methods: Readonly<Record<string, Partial<Method> | undefined>>;
  /** Differing fields, by model. undefined: the version lacks it. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, FieldSpec | undefined>>>>;
}
