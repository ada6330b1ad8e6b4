/**
 * Public methods of Odoo Community 14, 15, 16, 17, 18, 19 that write values of their caller.
 * Written by scripts/odoo-tables/written_methods.py, which describes the form: change its review.json.
 */
export const WRITTEN_METHODS = `
account.bank.statement.line reconcile=account.move.line/create,account.move.line/write,account.move/write,account.payment.register/create,account.payment/create
account.chart.template generate_account_reconcile_model=account.reconcile.model/create generate_journals=account.journal/create generate_properties=ir.property/create,ir.property/write process_translations=ir.translation/create try_loading=account.account/create,res.company/write
account.journal set_bank_account=res.partner.bank/create,write
account.move set_moves_checked=write
account.move.reversal reverse_moves?=write
auth.passkey.key.create make_key?=res.users/write
base_import.import do=base_import.mapping/create,base_import.mapping/write execute_import=base_import.mapping/create,base_import.mapping/write
bus.bus sendmany=create sendone=create
bus.presence update_presence=create,write
calendar.event action_join_meeting=write write_insertion_values=write
calendar.recurrence write_insertion_values=write
crm.iap.lead.helpers notify_no_more_credit=ir.config_parameter/create
crm.lead action_set_lost?=write assign_geo_localize?=write assign_partner?=write convert_opportunity=write create_opp_portal=create handle_partner_assignment?=write handle_salesmen_assignment?=write iap_enrich=write update_contact_details_from_portal=write update_lead_portal=mail.activity/create,mail.activity/write,write
crm.team update_invoiced_target=write
digest.digest action_set_periodicity=write
discuss.channel add_members?=discuss.channel.member/create channel_change_description=write channel_create=create channel_fold?=discuss.channel.member/write channel_get=create channel_pin?=discuss.channel.member/write channel_rename=write channel_set_custom_name=discuss.channel.member/write create_group=create execute_command_lead?=crm.lead/create
discuss.channel.member set_custom_notifications=write
equity.ubo submit_ubo_form_data=create,res.partner/create,res.partner/write,write
event.booth action_confirm?=write
event.event action_generate_leads?=event.lead.request/create toggle_booth_menu=write toggle_exhibitor_menu=write toggle_website_menu=write toggle_website_track=write toggle_website_track_proposal=write
fleet.vehicle create_driver_history=fleet.vehicle.assignation.log/create
forum.post close=write convert_comment_to_answer=create mark_as_offensive=write
google.calendar.sync write_insertion_values=write
hr.employee create_contract=hr.version/create,hr.version/write create_version=hr.version/create,hr.version/write
hr.expense attach_document?=write
hr.leave split_leave=create,write
hr.work.entry action_split=write
iap.account get=create get_credits=create get_credits_url=create
ir.attachment create_unique=create
ir.config_parameter set_param=create,write
ir.cron try_write=write
ir.default set=create,write
ir.filters create_filter=create create_or_replace=create,write
ir.module.module import_zipfile=create,ir.asset/create
ir.translation save_html=write
ir.ui.view rename_snippet=write save=write save_snippet=create
l10n_eg_edi.thumb.drive set_certificate=write set_signature_data=account.move/write
l10n_id_efaktur.efaktur.range push_number=create,write push_numbers=create,write
link.tracker search_or_create=create
link.tracker.click add_click=create
lunch.order update_quantity=write
mail.activity action_feedback?=calendar.event/write,write action_feedback_schedule_next?=calendar.event/write,write
mail.channel add_members?=mail.channel.member/create,mail.channel.partner/create channel_change_description=write channel_create=create channel_fold=mail.channel.member/write,mail.channel.partner/write channel_get=create channel_get_and_minimize=create channel_invite=write channel_minimize=mail.channel.partner/write channel_pin=mail.channel.member/write,mail.channel.partner/write channel_rename=write channel_set_custom_name=mail.channel.member/write,mail.channel.partner/write create_group=create execute_command_lead?=crm.lead/create
mail.compose.message action_schedule_message?=mail.scheduled.message/create
mail.partner.device register_devices=create,write
mail.push.device register_devices=create,write
mail.template generate_recipients=res.partner/create
mailing.contact add_to_list=create
mailing.mailing update_opt_out=mailing.contact.subscription/write
mailing.trace set_bounced?=write set_failed=write
mrp.workorder set_state=write
payment.acquirer authorize_s2s_form_process=payment.token/create ogone_s2s_form_process=payment.token/create stripe_form_generate_values=payment.transaction/write stripe_s2s_form_process=payment.token/create test_s2s_form_process=payment.token/create
payment.transaction action_refund?=create ogone_s2s_do_transaction?=payment.token/create,write
phone.blacklist action_remove_with_reason=create add=create remove=create
pos.config assign_payment_journals=account.journal/create,pos.payment.method/create,write generate_pos_journal=account.journal/create,write post_install_pos_localisation=account.journal/create,write setup_defaults=account.journal/create,pos.payment.method/create,write toggle_images=ir.config_parameter/create,ir.config_parameter/write
pos.order action_send_receipt=write action_send_self_order_receipt=write action_sent_message_on_sms=write add_loyalty_history_lines=loyalty.history/create add_payment=pos.payment/create confirm_coupon_programs=loyalty.card/create,loyalty.card/write,loyalty.history/create,pos.order.line/write create_from_ui=create,gift.card/write,pos.order.line/write,sale.order.line/create,stock.move/write get_and_set_online_payments_data?=write set_tip=pos.order.line/create,pos.order.line/write,pos.payment/write,write sync_from_ui=create,pos.order.line/write,sale.order.line/create,stock.move/write validate_coupon_programs=write
pos.session action_pos_session_close?=account.move.line/write post_closing_cash_details=account.bank.statement/write,write set_cashbox_pos=account.bank.statement.line/create,account.bank.statement/write,write set_opening_control=write try_cash_in_out=account.bank.statement.line/create update_closing_control_state_session=write
product.template create_product_variant=product.product/create create_product_variant_from_pos=product.product/create
project.project action_create_from_template?=create,project.task/write map_tasks=project.task/create
project.task action_create_from_template?=create plan_task_in_calendar=write
purchase.order create_document_from_attachment=create
report.stock.report_reception action_assign=stock.move.line/write,stock.move/create,stock.move/write action_unassign=stock.move.line/write,stock.move/create,stock.move/write
res.company action_close_stock_valuation?=account.move/create reflect_code_prefix_change=account.account/write
res.lang load_lang=create
res.partner create_from_ui=create,write create_membership_invoice=account.move/create find_or_create=create iap_partner_autocomplete_add_tags=res.partner.category/create iap_partner_autocomplete_get_tag_ids=res.partner.category/create signup_prepare=write update_address=write
res.partner.autocomplete.sync add_to_queue=create
res.users action_setup_outgoing_mail_server=ir.mail_server/create add_karma=write auth_oauth=create,write authenticate=ir.config_parameter/create,ir.config_parameter/write,write change_password=auth.passkey.key/write,write check=auth.passkey.key/write signup=create web_create_users=create
res.users.settings set_custom_notifications=write set_embedded_actions_setting=res.users.settings.embedded.action/create,res.users.settings.embedded.action/write set_res_users_settings=write set_volume_setting=res.users.settings.volumes/create,res.users.settings.volumes/write
resource.calendar transfer_leaves_to=resource.calendar.leaves/write
restaurant.floor create_from_ui=create rename_floor=write sync_from_ui=create
restaurant.table create_from_ui=create,write
sale.order create_document_from_attachment=create save_included_pdf=sale.order.line/write,write set_delivery_line=sale.order.line/create,stock.picking/write,write
sale.order.template create_or_update_translations=ir.translation/create,ir.translation/write
slide.channel action_add_member?=slide.channel.partner/create action_grant_access=slide.channel.partner/create
sms.sms action_set_error=write
spreadsheet.dashboard.share action_get_share_url=create
stock.move action_generate_lot_line_vals=stock.lot/create product_price_update_before_done?=product.product/write
stock.package action_put_in_pack?=write
stock.picking action_put_in_pack?=stock.package_level/create,stock.quant.package/write assign_batch_user=write
stock.quant action_apply_inventory?=stock.move/write move_quants?=stock.move/create
stock.warehouse create_resupply_routes=stock.location.route/create,stock.route/create,stock.rule/create
survey.user_input save_lines=survey.user_input.line/create,write
web_editor.assets make_scss_customization=ir.asset/create,ir.ui.view/create save_asset=ir.asset/create,ir.ui.view/create
web_tour.tour consume=create
website configurator_addons_apply?=product.public.category/create configurator_apply=blog.blog/create,ir.ui.view/create,ir.ui.view/write,product.public.category/create,website.event.menu/write,website.menu/create,website.menu/write,website.page/create configurator_set_menu_links=blog.blog/create,website.menu/create,website.menu/write new_page=ir.ui.view/write,website.event.menu/write,website.menu/create,website.page/create sale_get_order?=sale.order/create
website.assets make_scss_customization=ir.asset/create save_asset=ir.asset/create
website.menu save=create,website.event.menu/create,website.page/write,write
website.page clone_page=create,website.menu/create save_page_info=website.menu/create,website.menu/write,website.rewrite/create,write
`;
