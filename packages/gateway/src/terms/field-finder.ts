/**
 * The interfaces of what finds the types of a model's fields, for steps that convert values, and the orders in which
 * models list their records, for rules that deny fields.
 */

import type { ModelOrders } from '@erp-proxy/odoo/fields';
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

/** The orders, empty if the server does not describe them, or why it could not be asked. */
export type FoundOrders = { orders: ModelOrders } | { failed: FaultReply | Denial };

export interface OrderFinder {
  find(target: Target, context: CallContext): Promise<FoundOrders>;
}
