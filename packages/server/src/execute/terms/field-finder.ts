/** Finds the types of a model's fields, for steps that convert values. */
import type { FieldTypes } from '@erp-proxy/odoo/values';
import type { CallContext } from './call-context.ts';
import type { Denial } from './denial.ts';
import type { FaultReply } from './reply.ts';
import type { Target } from './target.ts';

/** The types, or why they are not known. */
export type FoundTypes = { types: FieldTypes } | { failed: FaultReply | Denial };

export interface FieldFinder {
  /** `names` are fields that the call names. The server is asked again for one that is not known. */
  find(
    of: { target: Target; model: string },
    names: Iterable<string>,
    context: CallContext,
  ): Promise<FoundTypes>;
  /** The types that are in memory; null: there are none. */
  recall(of: { target: Target; model: string }): FieldTypes | null;
}
