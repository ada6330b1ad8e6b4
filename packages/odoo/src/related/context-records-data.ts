/**
 * Members of a context that select records of other models, and models whose methods take the active records.
 * Written by scripts/odoo-tables/context_records.py, which describes the form: change its review.json.
 * From the sources of Odoo Community 14, 15, 16, 17, 18, 19.
 */
export const CONTEXT_RECORDS = `
account.accrued.orders.wizard: *
account.automatic.entry.wizard: account.move.line
account.bank.statement.closebalance: account.bank.statement
account.debit.note: account.move
account.invoice.send: account.move
account.merge.wizard: account.account
account.move.reversal: account.move
account.move.send.batch.wizard: account.move
account.move.send.wizard: account.move
account.move.send: account.move
account.payment.register: account.move account.move.line
account.resequence.wizard: account.move
account.tour.upload.bill: account.journal
account.unreconcile: account.move.line
active_wave_id stock.picking.batch
base.document.layout: account.move sale.order
base.partner.merge.automatic.wizard: res.partner
bill.to.po.wizard: account.move.line purchase.order.line
button_mark_done_production_ids mrp.production
button_validate_picking_ids stock.picking
change.password.wizard: res.users
change.production.qty: mrp.production
config_id pos.config
coupon.generate.wizard: coupon.program
create_for_project_id project.project
create_for_task_id project.task
crm.lead.forward.to.partner: crm.lead
crm.lead.lost: crm.lead
crm.lead2opportunity.partner.mass: crm.lead
crm.lead2opportunity.partner: crm.lead
crm.merge.opportunity: crm.lead
crm.quotation.partner: crm.lead
event_mail_registration_ids event.registration
hr.candidate: hr.job
hr.departure.wizard: hr.employee
hr.expense.post.wizard: hr.expense
hr.expense.refuse.wizard: hr.expense hr.expense.sheet
hr.holidays.summary.employee: hr.employee
hr.plan.wizard: hr.employee
hr.version.wizard: hr.employee
ir_cron_progress_id ir.cron.progress
l10n_ch.qr_invoice.wizard: account.move
l10n_in.withhold.wizard: account.move account.payment
l10n_it_moves_to_post account.move
l10n_it_xml_export.monthly.tax.report.xml.export.wizard: account.move
l10n_latam.payment.mass.transfer: account.payment l10n_latam.check
l10n_sa_edi.otp.wizard: account.journal
link_to_project project.project
loyalty.generate.wizard: loyalty.program
mail.activity.schedule: *
mailing.list.merge: mailing.list
membership.invoice: res.partner
mo_ids_to_backorder mrp.production
mrp.account.wip.accounting: mrp.production
mrp.consumption.warning: mrp.workorder
nemhandel.registration: account.move
orderpoint_id stock.warehouse.orderpoint
orders pos.order
parent_production_id mrp.production
payment.capture.wizard: payment.transaction
payment.link.wizard: *
payment.refund.wizard: account.payment
payment_ids account.payment
peppol.registration: account.move
picking_id stock.picking
pickings_to_detach stock.picking
portal.share: *
portal.wizard: res.partner
pos.close.session.wizard: pos.session
pos.make.invoice: pos.order
pos.make.payment: pos.order
pos_config_id pos.config
pos_session_id pos.session
product.fetch.image.wizard: product.product product.template
project.create.invoice: project.project
project.create.sale.order: project.project
project.share.wizard: *
project.task.create.sale.order: project.task
project.task.create.timesheet: project.task
registration.editor: sale.order
repair.order.make_invoice: repair.order
replenish_id product.replenish
reset.view.arch.wizard: ir.ui.view
sale.advance.payment.inv: sale.order
sale.coupon.apply.code: sale.order
sale.loyalty.coupon.wizard: sale.order
sale.loyalty.reward.wizard: sale.order
sale.mass.cancel.orders: sale.order
sale.order.discount: sale.order
selected_employee_id hr.employee
session_id pos.session
sms.composer: *
stock.add.to.wave: stock.move.line stock.picking
stock.picking.to.batch: stock.picking
stock.return.picking: stock.picking
stock.traceability.report: *
stock.valuation.layer.revaluation: stock.valuation.layer
subcontract_move_id stock.move
task.share.wizard: *
ticket_timesheet_ids account.analytic.line
validate.account.move: account.journal account.move
`;
