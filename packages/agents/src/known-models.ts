/** Well-known models, with the words by which people ask for them, and the apps to which they belong. Pure. */

export interface KnownModel {
  readonly model: string;
  readonly name: string;
  /** Further words for the model, in lower case and singular. */
  readonly words: string;
  /** The app that adds the model, if it is one app. */
  readonly app?: string;
}

export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    model: 'res.partner',
    name: 'Contact',
    words: 'customer client supplier vendor company address person phone email',
  },
  { model: 'sale.order', name: 'Sales Order', words: 'quotation quote offer sale revenue', app: 'Sales' },
  { model: 'sale.order.line', name: 'Sales Order Line', words: 'sold item sale', app: 'Sales' },
  {
    model: 'account.move',
    name: 'Journal Entry',
    words: 'invoice bill credit note accounting',
    app: 'Invoicing',
  },
  { model: 'account.move.line', name: 'Journal Item', words: 'invoice line accounting', app: 'Invoicing' },
  { model: 'account.payment', name: 'Payment', words: 'paid receipt', app: 'Invoicing' },
  { model: 'product.template', name: 'Product', words: 'article item price catalog' },
  { model: 'product.product', name: 'Product Variant', words: 'article item sku variant' },
  {
    model: 'crm.lead',
    name: 'Lead/Opportunity',
    words: 'lead opportunity pipeline crm prospect',
    app: 'CRM',
  },
  { model: 'crm.stage', name: 'CRM Stage', words: 'pipeline stage', app: 'CRM' },
  { model: 'purchase.order', name: 'Purchase Order', words: 'rfq purchase supplier order', app: 'Purchase' },
  { model: 'purchase.order.line', name: 'Purchase Order Line', words: 'purchase item', app: 'Purchase' },
  { model: 'stock.picking', name: 'Transfer', words: 'delivery shipment receipt picking', app: 'Inventory' },
  { model: 'stock.quant', name: 'Quants', words: 'stock inventory quantity warehouse', app: 'Inventory' },
  { model: 'stock.move', name: 'Stock Move', words: 'stock movement', app: 'Inventory' },
  { model: 'mrp.production', name: 'Production Order', words: 'manufacturing order', app: 'Manufacturing' },
  { model: 'project.project', name: 'Project', words: 'project', app: 'Project' },
  { model: 'project.task', name: 'Task', words: 'todo task', app: 'Project' },
  { model: 'helpdesk.ticket', name: 'Helpdesk Ticket', words: 'support ticket', app: 'Helpdesk' },
  { model: 'hr.employee', name: 'Employee', words: 'staff colleague worker', app: 'Employees' },
  { model: 'hr.leave', name: 'Time Off', words: 'holiday vacation leave absence', app: 'Time Off' },
  { model: 'hr.expense', name: 'Expense', words: 'expense cost', app: 'Expenses' },
  { model: 'account.analytic.line', name: 'Analytic Line', words: 'timesheet hour' },
  { model: 'pos.order', name: 'Point of Sale Order', words: 'cash register shop', app: 'Point of Sale' },
  { model: 'calendar.event', name: 'Calendar Event', words: 'meeting appointment', app: 'Calendar' },
  { model: 'mail.activity', name: 'Activity', words: 'todo reminder activity', app: 'Discuss' },
  { model: 'res.users', name: 'User', words: 'salesperson login' },
  { model: 'res.company', name: 'Companies', words: 'company' },
  { model: 'res.country', name: 'Country', words: 'country' },
  { model: 'res.currency', name: 'Currency', words: 'currency' },
  { model: 'crm.tag', name: 'CRM Tag', words: 'tag label', app: 'CRM' },
  { model: 'res.partner.category', name: 'Partner Tags', words: 'tag label category customer contact' },
];

const APPS = new Map(KNOWN_MODELS.flatMap(({ model, app }) => (app === undefined ? [] : [[model, app]])));
const NAMED_MAX = 5;

/**
 * A sentence about the apps to which the models belong; null if no app is known. Call it only if the server lacks the
 * models, and the policy lets the key know that.
 */
export function explainMissingApps(models: readonly string[]): string | null {
  const byApp = new Map<string, string>();
  for (const model of models) {
    const app = APPS.get(model);
    if (app !== undefined && !byApp.has(app)) byApp.set(app, model);
  }
  const named = [...byApp].slice(0, NAMED_MAX).map(([app, model]) => `${app} (${model})`);
  if (named.length === 0) return null;
  return named.length === 1
    ? `The app ${named[0]} is not installed on this server.`
    : `These apps are not installed on this server: ${named.join(', ')}.`;
}
