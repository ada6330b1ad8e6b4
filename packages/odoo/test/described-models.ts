/** Models as servers of Odoo 14 to 19 describe them, and invented ones. Only the fields that tests need. */

/** By model and field: the type, and the model of the related records. */
export const MODELS: Record<string, Record<string, string>> = {
  'sale.order': {
    name: 'char',
    payload: 'json',
    order_line: 'one2many sale.order.line',
    picking_ids: 'one2many stock.picking',
    tag_ids: 'many2many crm.tag',
    message_ids: 'one2many mail.message',
    message_follower_ids: 'one2many mail.followers',
    message_partner_ids: 'many2many res.partner',
    activity_ids: 'one2many mail.activity',
    activity_user_id: 'many2one res.users',
  },
  'sale.order.line': {
    name: 'char',
    tax_id: 'many2many account.tax',
    move_ids: 'one2many stock.move',
  },
  'account.move': {
    ref: 'char',
    partner_id: 'many2one res.partner',
    line_ids: 'one2many account.move.line',
    invoice_line_ids: 'one2many account.move.line',
    message_partner_ids: 'many2many res.partner',
  },
  'account.move.line': { name: 'char', tax_ids: 'many2many account.tax', move_id: 'many2one account.move' },
  'crm.lead': { tag_ids: 'many2many crm.tag', order_ids: 'one2many sale.order' },
  'crm.tag': { name: 'char', lead_ids: 'many2many crm.lead' },
  'mail.message': { child_ids: 'one2many mail.message', attachment_ids: 'many2many ir.attachment' },
  'res.partner': { user_ids: 'one2many res.users', child_ids: 'one2many res.partner', name: 'char' },
  'res.groups': { users: 'many2many res.users', implied_ids: 'many2many res.groups' },
  'project.task': { user_ids: 'many2many res.users', child_ids: 'one2many project.task' },
  'x.custom': { x_lines: 'one2many x.custom.line', x_orders: 'many2many sale.order' },
  'x.custom.line': { x_user: 'one2many res.users' },
  // As the servers of these versions describe them.
  'web_tour.tour': { user_consumed_ids: 'many2many res.users' },
  'spreadsheet.dashboard': { main_data_model_ids: 'many2many ir.model' },
  'report.paperformat': { report_ids: 'one2many ir.actions.report' },
  'mail.channel': { moderator_ids: 'many2many res.users' },
  'account.chart.template': { tax_template_ids: 'one2many account.tax.template' },
  'account.tour.upload.bill': {
    partner_ids: 'many2many res.partner',
    attachment_ids: 'many2many ir.attachment',
    child_ids: 'one2many mail.message',
    tracking_value_ids: 'one2many mail.tracking.value',
  },
  'ir.model': { access_ids: 'one2many ir.model.access', rule_ids: 'one2many ir.rule' },
  'portal.wizard': { user_ids: 'one2many portal.wizard.user' },
};

/** The answer of `fields_get`, as JSON. */
export function describeFields(model: string): string {
  const fields = Object.entries(MODELS[model] ?? {}).map(([name, text]) => {
    const [type, relation] = text.split(' ');
    return [name, { type, ...(relation !== undefined && { relation }) }];
  });
  return JSON.stringify(Object.fromEntries(fields));
}
