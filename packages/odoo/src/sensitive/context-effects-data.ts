/**
 * Members of a context with which Odoo Community 14, 15, 16, 17, 18, 19 changes records of other models.
 * Written by scripts/odoo-tables/context_effects.py, which describes the form: change its review.json.
 */
export const CONTEXT_EFFECTS = `
active_owner_id stock.picking.batch/create
active_wave_id stock.picking/create stock.picking.batch/action_confirm stock.picking.batch/create stock.picking.batch/write
add_caba_vals account.partial.reconcile/write
all_events calendar.recurrence/write
bom_id mrp.routing.workcenter/create
button_mark_done_production_ids mrp.production/button_mark_done
button_validate_picking_ids stock.picking/button_validate
bypass_procurement_creation stock.move/write
canned_response_ids mail.canned.response/unlink res.users/write
create_for_employee_mapping sale.order/action_confirm
create_for_project_id project.project/write
create_for_task_id project.task/write sale.order/action_confirm
create_from_website im_livechat.channel.rule/create
cron_id ir.cron.progress/write
event_ticket_id event.registration/action_cancel
force_orderpoint_recompute stock.warehouse.orderpoint/write
from_alias account.move/create account.move.line/write ir.attachment/unlink mail.mail/create
from_embedded_action project.project/write
generate_milestone project.milestone/create
hide_default_template sale.order/write
inventory_report_mode stock.move/create stock.move/write stock.quant/write
ir_cron_progress_id ir.cron.progress/write
is_online_qr l10n_id.qris.transaction/create
is_receipt_printed ir.attachment/create ir.model.data/create
l10n_ch_mark_isr_as_sent account.move/write
l10n_it_moves_to_post account.move/action_post
link_to_project project.project/write
mail_composer_saved_subject mail.compose.message/write
mail_message_to_resend mail.resend.partner/create
mail_post_autofollow mail.followers/write
mark_invoice_as_sent account.move/write
matching_job_id hr.applicant/write
moves_todo mrp.production/action_cancel mrp.production/write
mrp_subcontracting change.production.qty/change_prod_qty change.production.qty/create mrp.production/action_assign
orderpoint_id stock.warehouse.orderpoint/write
origin_po_id purchase.order.group/create purchase.order.group/write
parent_production_id mrp.production/write
payment_ids account.payment/action_post account.payment/write
picking_id stock.picking/action_add_entire_packs
picking_ids_not_to_backorder stock.picking/write
pickings_to_detach stock.move/write stock.picking/write
pos_config_id pos.config/action_close_kiosk_session pos.config/open_ui
pos_session_id pos.session/write
post_convert_links link.tracker/create link.tracker/search_or_create
qris_model l10n_id.qris.transaction/create
qris_model_id l10n_id.qris.transaction/create
replenish_id product.replenish/write
report_name snailmail.letter/write
section_id purchase.order.line/unlink purchase.order.line/write
selected_answer_id chatbot.message/write
send_email mail.mail/create
signup_valid res.partner/signup_prepare
soft_delete account.move/button_cancel
stripe_card_action_activate hr.expense.stripe.card/action_activate_card
subcontract_move_id stock.move.line/create stock.move.line/unlink stock.move.line/write
suggest_based_on res.partner/write
suggest_days res.partner/write
suggest_percent res.partner/write
ticket_timesheet_ids project.project/write
toggle_active hr.employee/write
tpl_partners_only res.partner/create
transfer_qty change.production.qty/change_prod_qty change.production.qty/create mrp.production/action_cancel
unreserve_parent stock.move/write stock.move.line/unlink stock.move.line/write
update_delivery_shipping_partner stock.picking/write
website_sale_send_recovery_email sale.order/write
write_dates google.calendar.sync/write
`;

/** Those with an effect while records are read. */
export const EFFECTS_OF_READS = `
signup_valid
`;
