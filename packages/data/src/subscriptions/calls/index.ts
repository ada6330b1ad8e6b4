/** What subscriptions ask Odoo, by calls. */
export { createDeliveryCheck } from './check-delivery.ts';
export { createSubscriptionReader } from './read-subscription.ts';
