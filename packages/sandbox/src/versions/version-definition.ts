/** All differences of one Odoo version: its behaviour, and the fields and methods of its models. */
import type { FieldSpec, Method } from '../orm/model.ts';
import type { Personality } from './personality.ts';

export interface VersionDefinition extends Personality {
  /** Models that the version lacks. */
  readonly absentModels: readonly string[];
  /** Orders of records that differ, by model. */
  readonly orders: Readonly<Record<string, string>>;
  /** Methods that differ, by `method` or `model/method`. undefined: the version lacks the method. */
  readonly methods: Readonly<Record<string, Partial<Method> | undefined>>;
  /** Fields that differ, by model. undefined: the version lacks the field. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, FieldSpec | undefined>>>>;
}
