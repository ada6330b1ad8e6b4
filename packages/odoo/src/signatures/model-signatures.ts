/**
 * The parameters of methods that a single model of Odoo 19 has, as data: recorded methods, and methods of the module
 * base that every user needs. The server's doc page takes precedence, since a module can change the parameters, but not
 * every user may read the page (docs/odoo-facts.md#doc-group).
 */
import { parseSignature, type Signature } from './signature.ts';

export function findModelSignature(model: string, method: string): Signature | undefined {
  return MODEL_SIGNATURES.get(`${model}/${method}`);
}

/** Methods of records without parameters. */
const PLAIN: Readonly<Record<string, string>> = {
  'crm.lead':
    'action_generate_leads action_new_quotation action_reschedule_meeting action_restore action_sale_quotations_new action_set_automated_probability action_set_won action_set_won_rainbowman action_show_potential_duplicates action_view_sale_order action_view_sale_quotation',
  'product.product': 'action_open_documents action_open_label_layout action_view_sales',
  'res.users':
    'action_change_password_wizard action_create_passkey action_open_my_account_settings action_reset_password action_revoke_all_devices action_show_accesses action_show_groups action_show_rules action_totp_disable action_totp_enable_wizard action_totp_invite preference_save preference_change_password',
  'sale.order':
    'action_add_from_catalog action_cancel action_confirm action_draft action_lock action_open_business_doc action_open_discount_wizard action_preview_sale_order action_quotation_send action_quotation_sent action_unlock action_update_prices action_update_taxes',
};

/** Methods of the mixins for messages and activities. */
const WITH_MESSAGES = ['crm.lead', 'product.product', 'sale.order'];
const OF_MESSAGES: Readonly<Record<string, string>> = {
  message_subscribe: 'ids (partner_ids=, subtype_ids=)',
  message_unsubscribe: 'ids (partner_ids=)',
  activity_schedule: 'ids (act_type_xmlid=, date_deadline=, summary=, note=, **act_values)',
};
const OF_ACTIVITIES =
  'action_reschedule_my_next_nextweek action_reschedule_my_next_today action_reschedule_my_next_tomorrow';

const OTHERS: Readonly<Record<string, string>> = {
  'crm.lead/action_schedule_meeting': 'ids (smart_calendar=)',
  'crm.lead/action_set_lost': 'ids (**additional_values)',
  'sale.order/action_share': 'model ()',
  'sale.order/action_view_invoice': 'ids (invoices=)',
  'res.users/action_get': 'model ()',
  'res.users/action_setup_outgoing_mail_server': 'model (server_type)',
  'res.users/action_test_outgoing_mail_server': 'model ()',

  // From the source of 19, odoo/addons/base/models: res_users.py, res_lang.py, ir_config_parameter.py.
  'res.users/context_get': 'model ()',
  'res.users/has_group': 'ids (group_ext_id)',
  'res.users/has_groups': 'ids (group_spec)',
  'res.users/get_company_currency_id': 'model ()',
  'res.users/change_password': 'model (old_passwd, new_passwd)',
  'res.lang/get_installed': 'model ()',
  'ir.config_parameter/get_param': 'model (key, default=)',
  'ir.config_parameter/set_param': 'model (key, value)',
};

export const MODEL_SIGNATURES: ReadonlyMap<string, Signature> = new Map([
  ...Object.entries(PLAIN).flatMap(([model, names]) => listPlain(model, names)),
  ...WITH_MESSAGES.flatMap((model) => listPlain(model, OF_ACTIVITIES)),
  ...[...WITH_MESSAGES, 'res.partner'].flatMap((model) =>
    Object.entries(OF_MESSAGES).map(([method, text]) => parse(`${model}/${method}`, text)),
  ),
  ...Object.entries(OTHERS).map(([name, text]) => parse(name, text)),
]);

function listPlain(model: string, names: string) {
  return names.split(' ').map((method) => parse(`${model}/${method}`, 'ids ()'));
}

function parse(name: string, text: string): [string, Signature] {
  return [name, parseSignature(text)];
}
