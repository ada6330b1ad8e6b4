/**
 * Fields of Odoo Community 14, 15, 16, 17, 18, 19 that change records of other models.
 * Written by scripts/odoo-tables/written_models.py, which describes the form: change its review.json.
 */
export const WRITTEN_MODELS = `
account.account opening_balance=res.company/write@16 opening_credit,opening_debit=res.company/write@14-16
account.analytic.line ancestor_task_id=account.move/write@16
account.automatic.entry.wizard expense_accrual_account,journal_id,revenue_accrual_account=res.company/write
account.bank.statement.line amount_residual,is_reconciled=account.move/write@19 amount_residual,is_reconciled=account.partial.reconcile/create move_id=account.move/unlink~ move_id=account.move/write
account.code.mapping code=account.account/write?account_id@18-19
account.financial.year.op fiscalyear_last_day,fiscalyear_last_month,opening_date=res.company/write
account.full.reconcile exchange_move_id=account.move/create~@14-18
account.invoice.send composer_id=mail.compose.message/write@14-16
account.journal action_open_topup_wizard()=res.partner.bank/create@19 alias_id=mail.alias/unlink~ bank_acc_number,set_bank_account()=res.partner.bank/create bank_acc_number,bank_id=res.partner.bank/write?bank_account_id bank_account_id=res.partner.bank/unlink~ company_id=res.partner.bank/write!?bank_account_id l10n_ch_postal=res.partner.bank/write?bank_account_id@14
account.move amount_residual,amount_residual_signed,payment_state=account.partial.reconcile/create user_id=mail.followers/write
account.move.line amount_residual,amount_residual_currency,reconciled=account.partial.reconcile/create matching_number=account.partial.reconcile/create@16 move_name,parent_state=account.move/write reconciled_lines_ids=account.partial.reconcile/create@19
account.move.send.wizard create_mail_template()=mail.template/create@19
account.partial.reconcile exchange_move_id=account.move/create~@16-19 exchange_move_id=account.move/unlink~@19 full_reconcile_id=account.full.reconcile/unlink~
account.payment is_matched,is_reconciled=account.move/write@18-19 is_matched,is_reconciled=account.partial.reconcile/create move_id=account.move/unlink~ move_id=account.move/write@14-17
account.report.expression formula=ir.filters/create@17-18
account.setup.bank.manual.config bank_bic=res.bank/write linked_journal_id,new_journal_name=res.partner.bank/write! res_partner_bank_id=res.partner.bank/write
account.tour.upload.bill composer_id=mail.compose.message/write@14
base.document.layout company_details,layout_background,layout_background_image=res.company/write@15-19 external_report_layout_id,font,logo,paperformat_id,primary_color,report_footer,report_header,secondary_color=res.company/write qr_code,vat=res.company/write@18-19 vat=res.partner/write@18-19
calendar.event attendee_ids=mail.mail/create?attendee_ids partner_ids,start,start_date,stop_date=mail.mail/create!?attendee_ids recurrence_update=mail.mail/create!?attendee_ids@15
card.campaign body_html=card.template/write@18-19
chatbot.script title=res.partner/write!?operator_partner_id@16-19
coupon.generate.wizard partners_domain=ir.filters/create@14-15
coupon.program reward_id=coupon.reward/unlink~@14-15 reward_id=coupon.reward/write@14-15 rule_id=coupon.rule/unlink~@14-15 rule_id=coupon.rule/write@14-15 rule_partners_domain,rule_products_domain=ir.filters/create@14-15
coupon.rule rule_partners_domain,rule_products_domain=ir.filters/create@14-15
crm.lead email_from,phone=res.partner/write?partner_id user_id=mail.followers/write
crm.team alias_id=mail.alias/unlink~ alias_id=mail.alias/write assignment_domain=ir.filters/create@15-19
crm.team.member assignment_domain=ir.filters/create@15-19 assignment_domain_preferred=ir.filters/create@19
digest.digest currency_id=res.company/write next_run_date,state=mail.mail/create
event.booth partner_id,state=mail.followers/write!@15-18
event.event country_id=res.partner/write organizer_id=mail.followers/write!@14-18 user_id=mail.followers/write
event.lead.rule event_registration_filter=ir.filters/create
event.mail done=mail.mail/create@14 mail_done=mail.mail/create@15-17 scheduled_date=mail.mail/create@14-17
event.meeting.room chat_room_id=chat.room/unlink~@14-18
event.registration sale_status=sale.order/write@17-19 state=mail.mail/create!@14-17
event.sponsor chat_room_id=chat.room/unlink~@14-18
event.track partner_id=mail.followers/write!@14 stage_id=mail.mail/create user_id=mail.followers/write
gamification.challenge end_date,start_date,state=mail.mail/create report_message_frequency=mail.followers/write!@14-18 user_domain=ir.filters/create
gamification.challenge.line name=gamification.goal.definition/write?definition_id
gamification.goal challenge_id,end_date,start_date,state=mail.mail/create computation_mode=gamification.goal.definition/write?definition_id current=mail.mail/create!?challenge_id,line_id
gamification.karma.rank karma_min=mail.mail/create!
hr.applicant email_from,partner_phone=res.partner/write?candidate_id,partner_id employee_name=hr.employee/write?emp_id,employee_id interviewer_ids=mail.mail/create!@18-19 interviewer_ids=res.groups/write?interviewer_ids@16-19 partner_mobile=res.partner/write?partner_id@14-17 stage_id=mail.mail/create user_id=mail.followers/write
hr.bank.account.allocation.wizard action_save()=res.partner.bank/write@19
hr.candidate email_from,partner_phone=res.partner/write?partner_id@18 employee_name=hr.employee/write?employee_id@18 user_id=mail.followers/write@18
hr.contract permit_no,visa_no=hr.employee/write?employee_id@16-18 visa_expire=hr.employee/write?employee_id@16
hr.department manager_id=mail.followers/write@14-18 manager_id=res.groups/write!
hr.departure.wizard action_register_departure()=res.users/write@19
hr.employee action_toggle_primary_bank_account_trust()=res.partner.bank/write@19 address_home_id=mail.followers/write!@16 address_home_id=res.partner.bank/write!@14-16 attendance_manager_id=res.groups/write@17-19 lang=res.partner/write?address_home_id@15-16 leave_manager_id,parent_id=res.groups/write mobile_phone=res.partner/write?user_id,work_contact_id@16-18 phone=res.partner/write?address_home_id@14-16 resource_id=resource.resource/unlink~ tz=res.users/write!@19 version_id=hr.version/write@19 work_contact_id=mail.followers/write!@17-18 work_contact_id=res.partner.bank/write!@17-19 work_email=res.partner/write?user_id,work_contact_id@16-19 work_phone=res.partner/write?user_id,work_contact_id@19
hr.employee.public leave_manager_id,parent_id=res.groups/write@14-18 mobile_phone,work_email=hr.employee/write@17-18 mobile_phone,work_email=res.partner/write?work_contact_id@16-18
hr.expense state=account.move/write@17-19 state=account.partial.reconcile/create@17-19
hr.expense.sheet amount_residual,payment_state=account.move/write@16-18 amount_residual,payment_state=account.partial.reconcile/create@16-18 state=account.move/write@17-18 state=account.partial.reconcile/create@17-18 user_id=mail.followers/write@14-18
hr.expense.stripe.card delivery_address_id=mail.mail/create!@19
hr.job alias_id=mail.alias/unlink~ alias_id=mail.alias/write department_id=mail.followers/write!@18 interviewer_ids=res.groups/write?interviewer_ids@16-19 user_id=mail.followers/write
hr.leave date_from,date_to=mail.followers/write!@19 employee_id=mail.followers/write! meeting_id=calendar.event/write~@17-19 overtime_id=hr.attendance.overtime/unlink~@16-18 validation_type=hr.leave.type/write
hr.recruitment.source alias_id=mail.alias/unlink~@17-19 create_alias()=mail.alias/create create_and_get_alias()=mail.alias/create@19 source_id=utm.source/write@14-15
ir.model.fields selection=ir.model.fields.selection/unlink
l10n_it_edi_doi.declaration_of_intent invoiced,not_yet_invoiced,remaining=account.move/write@17-19 not_yet_invoiced,remaining=sale.order/write@17-19
l10n_latam.check issue_state=account.partial.reconcile/create@18-19
loyalty.card points=mail.mail/create!@16-19 program_id=mail.mail/create@16-19
loyalty.reward discount_product_domain=ir.filters/create@16-19
loyalty.rule product_domain=ir.filters/create@16-19
lunch.alert active,mode,name,notification_moment,notification_time,tz,until=ir.cron/write!?cron_id@15-19 cron_id=ir.cron/unlink~@15-19 cron_id=ir.cron/write?cron_id@15-19
lunch.product company_id=res.partner/write?supplier_id
lunch.supplier active,automatic_email_time,moment,name,send_by,tz=ir.cron/write!?cron_id@15-19 city,company_id,country_id,email,name,phone,state_id,street,street2,zip_code=res.partner/write?partner_id cron_id=ir.cron/unlink~@15-19 cron_id=ir.cron/write?cron_id@15-19
mail.activity calendar_event_id=calendar.event/unlink~@16 user_id=mail.followers/write!
mail.channel alias_id=mail.alias/unlink~@14-15 alias_id=mail.alias/write@14-15
mail.channel.partner partner_email=res.partner/write?partner_id@14-15
mail.group alias_id=mail.alias/unlink~@15-19 alias_id=mail.alias/write@15-19
mail.group.message attachment_ids,author_id,body,email_from,subject=mail.message/write?mail_message_id@15-19
mail.mail mail_message_id=mail.message/unlink~ mail_message_id=mail.message/write
mail.resend.partner email,name=res.partner/write@14-18
mail.template ref_ir_act_window=ir.actions.act_window/unlink~
mailing.filter mailing_domain=ir.filters/create@16-19
mailing.mailing source_id=utm.source/write@14-15 user_id=mail.followers/write
maintenance.equipment department_id,employee_id,owner_user_id=mail.followers/write!
maintenance.equipment.category alias_id=mail.alias/unlink~@14-18 alias_id=mail.alias/write@14-18
maintenance.request employee_id,owner_user_id=mail.followers/write! user_id=mail.followers/write
maintenance.team alias_id=mail.alias/unlink~@19 alias_id=mail.alias/write@19
membership.membership_line state=account.move/write@16-18 state=account.partial.reconcile/create@16-18
mrp.document ir_attachment_id=ir.attachment/unlink~@15-17 ir_attachment_id=ir.attachment/write@14-17
mrp.workorder leave_id=resource.calendar.leaves/unlink~ mo_analytic_account_line_id,wc_analytic_account_line_id=account.analytic.line/unlink~@16 mo_analytic_account_line_ids,wc_analytic_account_line_ids=account.analytic.line/unlink~@17-19
nemhandel.registration contact_email,identifier_type,identifier_value,l10n_dk_nemhandel_proxy_state,phone_number=res.company/write@19 edi_mode=ir.config_parameter/create@19 edi_mode=ir.config_parameter/unlink@19 edi_mode=ir.config_parameter/write@19 identifier_type,identifier_value=res.partner/write@19 verification_code=account_edi_proxy_client.user/write@19
payment.transaction date,is_processed=mail.mail/create?invoice_ids,sale_order_ids@14 invoice_ids=mail.mail/create?invoice_ids@15-16 is_post_processed,last_state_change=mail.mail/create@15-19 operation=mail.mail/create@15-16 state=mail.mail/create@14-17
peppol.config.wizard account_peppol_migration_key,account_peppol_proxy_state,peppol_activate_self_billing,peppol_self_billing_reception_journal_id=res.company/write@19
peppol.registration account_peppol_migration_key,account_peppol_proxy_state=res.company/write@18 contact_email,peppol_eas,peppol_endpoint,phone_number=res.company/write@18-19 edi_mode=ir.config_parameter/create@18 edi_mode=ir.config_parameter/unlink@18 edi_mode=ir.config_parameter/write@18 peppol_eas,peppol_endpoint=res.partner/write@18-19 verification_code=account_edi_proxy_client.user/write@18
pos.cache product_domain,product_fields=ir.filters/create@14-16
pos.config device_seq_id,order_line_seq_id=ir.sequence/unlink~@19 sequence_id,sequence_line_id=ir.sequence/unlink~@14-18
product.category account_stock_variation_id=account.account/write?property_stock_valuation_account_id@19
product.document ir_attachment_id=ir.attachment/unlink~@17-19 ir_attachment_id=ir.attachment/write@17-19
product.product product_tmpl_id=product.template/write qty_available=stock.quant/create@19 stock_notification_partner_ids=mail.mail/create@16-19
product.template qty_available=stock.quant/create?product_variant_id,product_variant_ids@19
product.template.attribute.value ptav_product_variant_ids=product.product/unlink~ ptav_product_variant_ids=product.product/write~
product.wishlist stock_notification=mail.mail/create@15
project.project account_id=account.analytic.account/unlink~@18-19 alias_id=mail.alias/unlink~ alias_id=mail.alias/write analytic_account_id=account.analytic.account/unlink~@14-17 partner_email,partner_phone=res.partner/write?partner_id,sale_line_employee_ids,sale_line_id@14-16 privacy_visibility=mail.followers/write!@15-19 rating_active,rating_request_deadline,rating_status=mail.mail/create?task_ids@14-18 stage_id=mail.mail/create@15-19 user_id=mail.followers/write
project.task partner_city,partner_email=res.partner/write?display_project_id,parent_id,partner_id,project_id@14-16 partner_company_name,partner_name=res.partner/write?allow_billable,parent_id,partner_id,project_id@18-19 partner_phone=res.partner/write?allow_billable,display_project_id,parent_id,partner_id,project_id recurrence_id=project.task.recurrence/unlink~@17-19 stage_id=mail.mail/create user_id=mail.followers/write@14 user_ids=mail.followers/write@15-19
project.task.type rating_active,rating_request_deadline,rating_status=mail.mail/create@19
purchase.order acknowledged=mail.mail/create@19 invoice_status=account.move/write mail_reminder_confirmed=mail.mail/create@14-18 receipt_reminder_email=mail.mail/create receipt_reminder_email,reminder_date_before_receipt=res.partner/write?partner_id@14-18 user_id=mail.followers/write
purchase.order.line qty_invoiced,qty_to_invoice=account.move/write qty_invoiced,qty_to_invoice=purchase.order/write state=purchase.order/write@16-18
quotation.document ir_attachment_id=ir.attachment/write@18-19
rating.rating is_internal=mail.message/write?message_id parent_res_model=ir.model/write?parent_res_model_id
res.company bank_ids,l10n_no_bronnoysund_number,partner_id=res.partner/write?partner_id@15-19 city,country_id,email,l10n_ar_afip_responsibility_type_id,l10n_ar_gross_income_number,l10n_ar_gross_income_type,l10n_it_codice_fiscale,l10n_sg_unique_entity_number,name,phone,street,street2,vat,website,zip=res.partner/write?partner_id company_registry,l10n_cl_activity_description,l10n_sa_edi_building_number,l10n_sa_edi_plot_identification=res.partner/write?partner_id@16-19 l10n_br_ie_code,l10n_br_im_code,l10n_gt_edi_phrase_ids,l10n_in_pan_entity_id,l10n_in_tan,l10n_my_edi_industrial_classification,l10n_ph_rdo,l10n_sa_edi_additional_identification_number,l10n_sa_edi_additional_identification_scheme,l10n_tr_tax_office_id,nemhandel_identifier_type,nemhandel_identifier_value=res.partner/write?partner_id@19 l10n_ca_pst,l10n_hu_group_vat,peppol_eas,peppol_endpoint,sst_registration_number,ttx_registration_number=res.partner/write?partner_id@17-19 l10n_ch_isr_preprinted_account,l10n_ch_isr_preprinted_bank,l10n_ch_isr_scan_line_left,l10n_ch_isr_scan_line_top=ir.config_parameter/create@16 l10n_ch_isr_preprinted_account,l10n_ch_isr_preprinted_bank,l10n_ch_isr_scan_line_left,l10n_ch_isr_scan_line_top=ir.config_parameter/unlink@16 l10n_ch_isr_preprinted_account,l10n_ch_isr_preprinted_bank,l10n_ch_isr_scan_line_left,l10n_ch_isr_scan_line_top=ir.config_parameter/write@16 l10n_gr_edi_branch_number,l10n_my_identification_number,l10n_my_identification_type=res.partner/write?partner_id@18-19 l10n_nl_kvk,l10n_nl_oin=res.partner/write?partner_id@15-16 l10n_sa_additional_identification_number,l10n_sa_additional_identification_scheme=res.partner/write?partner_id@16-18 logo=res.partner/write@14-15 mobile=res.partner/write?partner_id@15-18 partner_gid,state_id=res.partner/write?partner_id@14-17 siret=res.partner/write?partner_id@14-18 street_name,street_number,street_number2=res.partner/write?partner_id@14-15
res.partner membership_cancel,membership_start,membership_state,membership_stop=account.move/write@16-18 membership_cancel,membership_start,membership_state,membership_stop=account.partial.reconcile/create@16-18 user_id=mail.followers/write
res.partner.bank bank_bic,bank_name=res.bank/write?bank_id bank_city,bank_country,bank_email,bank_phone,bank_state,bank_street,bank_street2,bank_zip=res.bank/write?bank_id@19
sale.order amount_to_invoice=account.move/write@17 amount_unpaid,invoice_status=account.move/write cart_recovery_email_sent,website_id=mail.mail/create@16-19 l10n_it_edi_doi_not_yet_invoiced=account.move/write@17-19 pending_email_template_id=mail.mail/create@17-19 user_id=mail.followers/write
sale.order.line coupon_id=loyalty.card/unlink~@16-19 invoice_status,qty_invoiced,qty_to_invoice,remaining_hours,untaxed_amount_invoiced,untaxed_amount_to_invoice=account.move/write invoice_status,qty_to_invoice,state,untaxed_amount_to_invoice=sale.order/write qty_invoiced_posted=account.move/write@17
server.action.history.wizard restore_revision()=ir.actions.server/write@19
slide.channel enroll_group_ids,user_id=mail.followers/write!@17-19 enroll_group_ids,user_id=mail.mail/create!@17-19
slide.slide active,is_published=mail.mail/create!?channel_id,slide_partner_ids@15-19 channel_id=mail.mail/create?channel_id@16-19
slide.slide.partner completed=mail.mail/create!@15-19
sms.composer active_domain=ir.filters/create@14-15
sms.template sidebar_action_id=ir.actions.act_window/unlink~
sms.twilio.account.manage sms_provider,sms_twilio_account_sid,sms_twilio_auth_token,sms_twilio_number_ids=res.company/write@19
stock.lot location_id=stock.quant/create?quant_ids@17-19
stock.move analytic_account_line_ids=account.analytic.line/unlink~@17-18
stock.move.line package_level_id=stock.package_level/unlink~@17-18
stock.picking user_id=mail.followers/write
stock.picking.batch user_id=mail.followers/write
stock.request.count show_expected_quantity=ir.config_parameter/create@19 show_expected_quantity=ir.config_parameter/unlink@19 show_expected_quantity=ir.config_parameter/write@19
stock.rule push_domain=ir.filters/create@18-19
stock.warehouse.orderpoint qty_to_order_computed=purchase.order/write@19
survey.survey user_id=mail.followers/write@15-19
survey.user_input state=mail.mail/create!
website partner_id=res.partner/write?user_id partner_id=res.users/write?user_id
website.controller.page name=ir.ui.view/write?view_id@18-19 view_id=ir.ui.view/unlink~@17-19 view_id=ir.ui.view/write@17-19 website_id=ir.ui.view/write?view_id@17-19
website.event.menu view_id=ir.ui.view/unlink~@15-19
website.page arch,website_id=ir.ui.view/write?view_id view_id=ir.ui.view/unlink~ view_id=ir.ui.view/write
`;

/** Targets that need no entry. */
export const LEFT_OUT = `
account.account.tag/create
account.account.tag/unlink
account.account.tag/write
account.account/create
account.account/unlink
account.analytic.account/create
account.analytic.account/write
account.analytic.line/create
account.analytic.line/write
account.analytic.plan/create
account.autopost.bills.wizard/create
account.bank.statement.line/write
account.bank.statement/write
account.edi.document/create
account.edi.document/unlink
account.edi.document/write
account.full.reconcile/create
account.journal/create
account.journal/write
account.move.line/create
account.move.line/unlink
account.move.line/write
account.partial.reconcile/unlink
account.partial.reconcile/write
account.payment.method.line/create
account.payment.method.line/unlink
account.payment.method.line/write
account.payment.method/create
account.payment.withholding.line/write
account.payment/create
account.payment/unlink
account.payment/write
account.reconcile.model/create
account.report.expression/create
account.report.expression/unlink
account.report.expression/write
account.tax.report.line/write
account_peppol.service/create
account_peppol.service/write
adyen.account/write
adyen.bank.account/write
adyen.shareholder/write
calendar.attendee/write
calendar.event/create
calendar.recurrence/create
calendar.recurrence/unlink
calendar.recurrence/write
change.production.qty/create
chat.room/create
chat.room/write
coupon.coupon/write
coupon.program/write
crm.lead/create
crm.lead/write
crm.team.member/create
crm.team.member/write
crm.team/write
discuss.call.history/write
discuss.channel.member/create
discuss.channel.member/unlink
discuss.channel.member/write
discuss.channel/write
event.booth.registration/create
event.booth.registration/unlink
event.booth/write
event.event/write
event.mail.registration/write
event.mail/write
event.registration/create
event.registration/write
event.sponsor/create
fleet.vehicle.assignation.log/create
fleet.vehicle.log.contract/write
fleet.vehicle.log.services/create
fleet.vehicle.log.services/unlink
fleet.vehicle.log.services/write
fleet.vehicle.model/write
fleet.vehicle.odometer/create
fleet.vehicle/write
forum.forum/write
forum.post/write
gamification.badge.user/create
gamification.badge/write
gamification.challenge.line/create
gamification.challenge/create
gamification.challenge/unlink
gamification.challenge/write
gamification.goal/create
gamification.goal/unlink
gamification.karma.tracking/create
hr.applicant.skill/create
hr.applicant.skill/write
hr.applicant/write
hr.attendance.overtime.line/create
hr.attendance.overtime.line/unlink
hr.attendance.overtime/create
hr.attendance.overtime/write
hr.candidate/create
hr.candidate/write
hr.contract/write
hr.employee.skill.log/create
hr.employee.skill.log/write
hr.employee.skill/create
hr.expense.sheet/write
hr.expense/write
hr.job/write
hr.leave.accrual.plan/write
hr.leave.allocation/write
hr.leave/create
hr.leave/write
hr.resume.line/create
hr.work.entry/create
hr.work.entry/unlink
hr.work.entry/write
iap.account.info/write
im_livechat.channel.member.history/create
im_livechat.channel.member.history/write
im_livechat.channel/write
ir.attachment/create
ir.sequence.date_range/create
ir.sequence/create
ir.sequence/write
l10n.in.ewaybill/create
l10n_ar.partner.tax/create
l10n_id_efaktur.document/write
l10n_id_efaktur.efaktur.range/unlink
l10n_id_efaktur.efaktur.range/write
l10n_in.pan.entity/create
l10n_latam.check/write
link.tracker.code/create
link.tracker.code/write
link.tracker/create
link.tracker/write
loyalty.card/create
loyalty.card/write
loyalty.history/create
loyalty.history/unlink
loyalty.mail/create
loyalty.mail/write
loyalty.reward/write
loyalty.rule/write
lunch.order/write
lunch.product/write
lunch.supplier/write
mail.activity/unlink
mail.activity/write
mail.channel.member/create
mail.channel.member/unlink
mail.channel.member/write
mail.channel.partner/create
mail.channel.partner/unlink
mail.channel/write
mailing.contact/write
mailing.trace/write
membership.membership_line/write
mrp.bom.byproduct/write
mrp.bom.line/write
mrp.bom/write
mrp.production.group/create
mrp.production/write
mrp.routing.workcenter/write
mrp.workcenter.productivity.loss.type/write
mrp.workcenter.productivity.loss/write
mrp.workcenter.productivity/create
mrp.workcenter.productivity/unlink
mrp.workcenter.productivity/write
mrp.workcenter/write
mrp.workorder/write
onboarding.progress.step/unlink
onboarding.progress/create
onboarding.progress/unlink
onboarding.progress/write
payment.method/write
payment.transaction/create
pos.combo.line/create
pos.combo.line/unlink
pos.config/create
pos.config/write
pos.order.line/write
pos.order/write
pos.session/write
procurement.group/create
procurement.group/write
product.category/write
product.combo.item/unlink
product.feed/create
product.pricelist/create
product.pricelist/write
product.product/create
product.supplierinfo/write
product.template.attribute.value/unlink
product.template.attribute.value/write
product.template/unlink
product.value/create
project.milestone/create
project.project/create
project.project/write
project.task.recurrence/create
project.task.recurrence/write
project.task.stage.personal/write
project.task.type/create
project.task.type/write
project.task/create
project.task/write
project.update/create
purchase.order.group/create
purchase.order.group/unlink
purchase.order.group/write
purchase.order.line/create
purchase.order.line/write
purchase.order/create
purchase.requisition.line/write
purchase.requisition/write
rating.rating/write
repair.line/unlink
repair.order/create
repair.order/write
res.bank/create
res.currency/write
res.lang/write
res.partner.autocomplete.sync/create
res.partner.iap/create
res.partner.iap/write
res.partner/create
res.users.log/write
resource.calendar.leaves/create
resource.calendar.leaves/write
resource.calendar/write
resource.resource/create
resource.resource/write
restaurant.floor/create
restaurant.table/create
sale.order.coupon.points/unlink
sale.order.coupon.points/write
sale.order.line/create
sale.order.line/unlink
sale.order.line/write
sale.order.template.line/write
sale.order.template.option/write
sale.order/create
slide.channel.partner/create
slide.channel.partner/write
stock.location.route/create
stock.location.route/write
stock.location/create
stock.location/write
stock.lot/create
stock.lot/write
stock.move.line/create
stock.move.line/unlink
stock.move.line/write
stock.move/create
stock.move/unlink
stock.move/write
stock.package/write
stock.package_level/create
stock.package_level/write
stock.picking.batch/create
stock.picking.batch/write
stock.picking.type/write
stock.picking/create
stock.picking/write
stock.production.lot/write
stock.putaway.rule/write
stock.quant/unlink
stock.quant/write
stock.reference/create
stock.reference/write
stock.route/create
stock.route/write
stock.rule/create
stock.rule/write
stock.scrap/write
stock.valuation.layer/create
stock.valuation.layer/write
stock.warehouse.orderpoint/write
stock.warehouse/create
survey.question/write
survey.survey/write
survey.user_input/write
uom.category/write
utm.campaign/create
utm.campaign/write
utm.source/create
validate.account.move/create
website.twitter.tweet/create
`;

/** Models that have what another one has, by `_inherit` under another name or `_inherits`. */
export const HEIRS = `
account.bank.statement.line delegates account.move
account.common.journal.report inherits account.common.report
account.invoice.send delegates mail.compose.message
account.payment delegates account.move
account.print.journal inherits account.common.journal.report
account.setup.bank.manual.config delegates res.partner.bank
account.tour.upload.bill delegates mail.compose.message
auth_totp.device inherits res.users.apikeys
coupon.program delegates coupon.reward
coupon.program delegates coupon.rule
crm.lead2opportunity.partner.mass inherits crm.lead2opportunity.partner
event.booth inherits event.type.booth
event.event.ticket inherits event.type.ticket
hr.employee delegates hr.version
hr.recruitment.source delegates utm.source
ir.actions.act_url inherits ir.actions.actions
ir.actions.act_window inherits ir.actions.actions
ir.actions.act_window_close inherits ir.actions.actions
ir.actions.client inherits ir.actions.actions
ir.actions.report inherits ir.actions.actions
ir.actions.server inherits ir.actions.actions
ir.cron delegates ir.actions.server
mail.mail delegates mail.message
mailing.mailing delegates utm.source
mrp.document delegates ir.attachment
product.document delegates ir.attachment
product.product delegates product.template
project.share.wizard inherits portal.share
quotation.document delegates ir.attachment
res.config.installer inherits res.config
res.device inherits res.device.log
res.users delegates res.partner
sale.payment.acquirer.onboarding.wizard inherits payment.acquirer.onboarding.wizard
sale.payment.provider.onboarding.wizard inherits payment.provider.onboarding.wizard
task.share.wizard inherits portal.share
website.controller.page delegates ir.ui.view
website.page delegates ir.ui.view
website.page.properties inherits website.page.properties.base
website.sale.payment.acquirer.onboarding.wizard inherits payment.acquirer.onboarding.wizard
`;

/** Fields with JSON that a call can set, and on which Odoo acts. */
export const JSON_VALUES = `
account.move send_and_print_values
account.move sending_data
account.move.send mail_attachments_widget
account.move.send.wizard mail_attachments_widget
hr.employee salary_distribution
hr.expense.stripe.cardholder.wizard stripe_values
mail.scheduled.message send_context
mail.tracking.value field_info
payment.link.wizard open_installments
pos.payment.method viva_com_latest_response
pos.payment.method viva_wallet_latest_response
`;
