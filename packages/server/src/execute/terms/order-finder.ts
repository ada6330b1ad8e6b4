/** Finds the orders in which models list their records, for rules that deny fields. */
import type { ModelOrders } from '@erp-proxy/odoo/fields';
import type { CallContext } from './call-context.ts';
import type { Denial } from './denial.ts';
import type { FaultReply } from './reply.ts';
import type { Target } from './target.ts';

/** The orders, empty if the server does not describe them, or why it could not be asked. */
export type FoundOrders = { orders: ModelOrders } | { failed: FaultReply | Denial };

export interface OrderFinder {
  find(target: Target, context: CallContext): Promise<FoundOrders>;
}
