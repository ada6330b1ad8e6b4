/** Well-known models, with the words by which people ask for them. Data, and nothing else. */

export interface KnownModel {
  readonly model: string;
  readonly name: string;
  /** Further words, in lower case and singular. */
  readonly words: string;
}

export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    model: 'res.partner',
    name: 'Contact',
    words: 'customer client supplier vendor company address person phone email',
  },
  { model: 'sale.order', name: 'Sales Order', words: 'quotation quote offer sale revenue' },
  { model: 'sale.order.line', name: 'Sales Order Line', words: 'sold item sale' },
  { model: 'account.move', name: 'Journal Entry', words: 'invoice bill credit note accounting' },
  { model: 'account.move.line', name: 'Journal Item', words: 'invoice line accounting' },
  { model: 'account.payment', name: 'Payment', words: 'paid receipt' },
  { model: 'product.template', name: 'Product', words: 'article item price catalog' },
  { model: 'product.product', name: 'Product Variant', words: 'article item sku variant' },
  { model: 'crm.lead', name: 'Lead/Opportunity', words: 'lead opportunity pipeline crm prospect' },
  { model: 'crm.stage', name: 'CRM Stage', words: 'pipeline stage' },
  { model: 'purchase.order', name: 'Purchase Order', words: 'rfq purchase supplier order' },
  { model: 'purchase.order.line', name: 'Purchase Order Line', words: 'purchase item' },
  { model: 'stock.picking', name: 'Transfer', words: 'delivery shipment receipt picking' },
  { model: 'stock.quant', name: 'Quants', words: 'stock inventory quantity warehouse' },
  { model: 'stock.move', name: 'Stock Move', words: 'stock movement' },
  { model: 'mrp.production', name: 'Production Order', words: 'manufacturing order' },
  { model: 'project.project', name: 'Project', words: 'project' },
  { model: 'project.task', name: 'Task', words: 'todo task' },
  { model: 'helpdesk.ticket', name: 'Helpdesk Ticket', words: 'support ticket' },
  { model: 'hr.employee', name: 'Employee', words: 'staff colleague worker' },
  { model: 'hr.leave', name: 'Time Off', words: 'holiday vacation leave absence' },
  { model: 'hr.expense', name: 'Expense', words: 'expense cost' },
  { model: 'account.analytic.line', name: 'Analytic Line', words: 'timesheet hour' },
  { model: 'calendar.event', name: 'Calendar Event', words: 'meeting appointment' },
  { model: 'mail.activity', name: 'Activity', words: 'todo reminder activity' },
  { model: 'res.users', name: 'User', words: 'salesperson login' },
  { model: 'res.company', name: 'Companies', words: 'company' },
  { model: 'res.country', name: 'Country', words: 'country' },
  { model: 'res.currency', name: 'Currency', words: 'currency' },
  { model: 'crm.tag', name: 'CRM Tag', words: 'tag label' },
  { model: 'res.partner.category', name: 'Partner Tags', words: 'tag label category customer contact' },
];
