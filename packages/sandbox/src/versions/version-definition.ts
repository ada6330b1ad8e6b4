/** Everything in which one Odoo version differs from another: its personality, and the fields and methods of its models. */
import type { FieldSpec, Method } from '../orm/model.ts';
import type { Personality } from './personality.ts';

export interface VersionDefinition extends Personality {
  /** Methods that differ: undefined = absent. The key is `method` or `model/method`. */
  readonly methods: Readonly<Record<string, Partial<Method> | undefined>>;
  /** Fields that differ, by model: undefined = absent. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, FieldSpec | undefined>>>>;
}
