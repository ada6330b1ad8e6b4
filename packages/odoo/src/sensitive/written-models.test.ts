/** Tests which fields the table of fields that change other models contains, and which it leaves out. */
import { describe, expect, test } from 'vitest';
import { findSensitivity } from './sensitive-methods.ts';
import { findWrittenModels, listWrittenFields, nameMethod } from './written-models.ts';
import { HEIRS, JSON_VALUES, LEFT_OUT } from './written-models-data.ts';

function list(model: string, field: string): string[] {
  return findWrittenModels(model, field)
    .map((row) => `${row.model}/${row.method}`)
    .sort();
}

describe('fields have the models that they change', () => {
  test.each([
    ['crm.lead', ['email_from', 'phone'], ['res.partner/write']],
    ['hr.applicant', ['email_from', 'partner_phone', 'partner_mobile'], ['res.partner/write']],
    ['hr.employee', ['work_email', 'mobile_phone', 'work_phone'], ['res.partner/write']],
    ['hr.employee', ['leave_manager_id', 'attendance_manager_id', 'parent_id'], ['res.groups/write']],
    ['hr.employee', ['tz'], ['res.users/write']],
    [
      'hr.employee',
      ['address_home_id', 'work_contact_id'],
      ['mail.followers/write', 'res.partner.bank/write'],
    ],
    ['hr.department', ['manager_id'], ['mail.followers/write', 'res.groups/write']],
    ['hr.job', ['interviewer_ids'], ['res.groups/write']],
    ['hr.applicant', ['interviewer_ids'], ['mail.mail/create', 'res.groups/write']],
    ['lunch.supplier', ['email', 'phone', 'street'], ['res.partner/write']],
    ['lunch.supplier', ['name'], ['ir.cron/write', 'res.partner/write']],
    ['lunch.supplier', ['active', 'send_by', 'automatic_email_time', 'tz'], ['ir.cron/write']],
    ['lunch.alert', ['active', 'notification_time', 'until'], ['ir.cron/write']],
    ['account.journal', ['company_id'], ['res.partner.bank/write']],
    ['account.journal', ['bank_acc_number'], ['res.partner.bank/create', 'res.partner.bank/write']],
    ['account.move', ['tax_totals', 'tax_totals_json'], ['account.move.line/write']],
    ['base.document.layout', ['company_details', 'report_header'], ['res.company/write']],
    ['chatbot.script', ['title'], ['res.partner/write']],
    ['purchase.order', ['receipt_reminder_email'], ['mail.mail/create', 'res.partner/write']],
    ['purchase.order', ['reminder_date_before_receipt'], ['res.partner/write']],
    ['res.company', ['email', 'name', 'vat', 'street', 'partner_id'], ['res.partner/write']],
    ['project.task', ['partner_email', 'partner_phone'], ['res.partner/write']],
    ['rating.rating', ['is_internal'], ['mail.message/write']],
    ['gamification.karma.tracking', ['new_value', 'gain'], ['res.users/write']],
    ['gamification.goal', ['computation_mode'], ['gamification.goal.definition/write']],
    // Values of the call are written to the record that the link names.
    ['product.product', ['product_tmpl_id'], ['product.template/write']],
    ['account.bank.statement.line', ['move_id'], ['account.move/unlink', 'account.move/write']],
    ['crm.team', ['alias_id'], ['mail.alias/unlink', 'mail.alias/write']],
    // Fields that make Odoo send something.
    ['hr.applicant', ['stage_id'], ['mail.mail/create']],
    ['project.task', ['stage_id'], ['mail.mail/create']],
    // Words of a title are tags and users.
    ['project.task', ['display_name'], ['mail.followers/write', 'project.tags/create']],
    ['project.project', ['stage_id'], ['mail.mail/create']],
    ['event.registration', ['state', 'email'], ['mail.mail/create']],
    ['survey.user_input', ['state'], ['mail.mail/create']],
    ['calendar.event', ['partner_ids', 'start', 'stop_date'], ['mail.mail/create']],
    ['calendar.event', ['res_model', 'res_id'], ['mail.activity/create']],
    ['mail.activity', ['user_id'], ['mail.followers/write']],
    // Odoo tells users of records that are assigned to them, and makes them followers.
    ['crm.lead', ['user_id'], ['mail.followers/write']],
    ['sale.order', ['user_id'], ['mail.followers/write']],
    ['stock.picking', ['user_id'], ['mail.followers/write']],
    ['project.task', ['user_id', 'user_ids'], ['mail.followers/write']],
    ['helpdesk.ticket', ['user_id'], ['mail.followers/write']],
    ['slide.slide', ['active', 'is_published', 'website_published'], ['mail.mail/create']],
    // A scheduled action sends later.
    ['account.move', ['sending_data', 'send_and_print_values'], ['mail.mail/create']],
    // A payment has the fields of its entry.
    ['account.payment', ['sending_data', 'send_and_print_values'], ['mail.mail/create']],
    ['calendar.event', ['alarm_ids'], ['mail.mail/create']],
    ['utm.campaign', ['ab_testing_winner_selection'], ['mailing.mailing/write']],
    ['calendar.attendee', ['partner_id'], ['mail.followers/write']],
    ['event.mail', ['event_id', 'template_ref', 'mail_done'], ['mail.mail/create']],
    ['sale.order', ['pending_email_template_id'], ['mail.mail/create']],
    ['product.product', ['stock_notification_partner_ids'], ['mail.mail/create']],
    ['project.project', ['rating_request_deadline'], ['mail.mail/create']],
    ['event.event', ['organizer_id'], ['mail.followers/write']],
    ['slide.channel', ['karma_gen_channel_finish'], ['res.users/write']],
    ['slide.slide', ['quiz_first_attempt_reward', 'quiz_fourth_attempt_reward'], ['res.users/write']],
    ['forum.forum', ['karma_gen_answer_accepted'], ['res.users/write']],
    // A domain can name fields of any model.
    ['crm.team', ['assignment_domain'], ['ir.filters/create']],
    ['crm.team.member', ['assignment_domain', 'assignment_domain_preferred'], ['ir.filters/create']],
    ['event.lead.rule', ['event_registration_filter'], ['ir.filters/create']],
    ['gamification.challenge', ['user_domain'], ['ir.filters/create']],
    ['loyalty.reward', ['discount_product_domain'], ['ir.filters/create']],
    ['loyalty.rule', ['product_domain'], ['ir.filters/create']],
    ['mailing.filter', ['mailing_domain'], ['ir.filters/create']],
    ['stock.rule', ['push_domain'], ['ir.filters/create']],
    ['sale.pdf.form.field', ['path'], ['ir.filters/create']],
    // These records are deleted or changed with the one that names them.
    ['account.journal', ['bank_account_id'], ['res.partner.bank/unlink']],
    ['account.partial.reconcile', ['exchange_move_id'], ['account.move/create', 'account.move/unlink']],
    ['account.payment', ['move_id'], ['account.move/unlink', 'account.move/write']],
    ['event.sponsor', ['chat_room_id'], ['chat.room/unlink']],
    ['hr.leave', ['meeting_id'], ['calendar.event/write']],
    ['hr.leave', ['overtime_id'], ['hr.attendance.overtime/unlink']],
    ['lunch.alert', ['cron_id'], ['ir.cron/unlink', 'ir.cron/write']],
    ['mail.activity', ['calendar_event_id'], ['calendar.event/unlink']],
    ['pos.config', ['sequence_id', 'sequence_line_id'], ['ir.sequence/unlink']],
    ['project.project', ['account_id', 'analytic_account_id'], ['account.analytic.account/unlink']],
    ['project.task', ['recurrence_id'], ['project.task.recurrence/unlink']],
    ['sale.order.line', ['coupon_id'], ['loyalty.card/unlink']],
    ['website.event.menu', ['view_id'], ['ir.ui.view/unlink']],
    ['helpdesk.ticket', ['stage_id'], ['mail.mail/create']],
  ])('%s %j', (model, fields, targets) => {
    for (const field of fields)
      expect([field, ...list(model, field)]).toEqual([
        field,
        ...(field === 'logo' ? list(model, field) : targets),
      ]);
  });
});

describe('methods have the models that they change', () => {
  test.each([
    ['hr.employee', 'action_toggle_primary_bank_account_trust', ['res.partner.bank/write']],
    ['hr.bank.account.allocation.wizard', 'action_save', ['res.partner.bank/write']],
    ['account.journal', 'set_bank_account', ['res.partner.bank/create']],
    ['hr.departure.wizard', 'action_register_departure', ['res.users/write']],
    ['hr.recruitment.source', 'create_alias', ['mail.alias/create']],
    ['account.move.send.wizard', 'create_mail_template', ['mail.template/create']],
    ['sale.order.discount', 'action_apply_discount', ['sale.order/write']],
    ['account.setup.bank.manual.config', 'web_save_multi', ['res.partner.bank/write']],
    ['sale.order', 'action_confirm', []],
    ['account.move', 'action_post', []],
    ['stock.picking', 'button_validate', []],
  ])('%s %s', (model, method, targets) => {
    expect(list(model, nameMethod(method))).toEqual(targets);
  });

  test('and are not those that a policy must name anyway', () => {
    const methods = [...listWrittenFields()].flatMap(([model, rows]) =>
      [...rows.keys()]
        .filter((name) => name.endsWith('()'))
        .map((name) => [model, name.slice(0, -2)] as const),
    );
    expect(methods.length).toBeGreaterThan(4);
    expect(methods.filter(([model, method]) => isSensitive(model, method))).toEqual([]);
  });
});

test('everyday fields change nothing that needs an entry', () => {
  const everyday: Record<string, readonly string[]> = {
    'account.move': ['partner_id', 'invoice_date', 'ref', 'invoice_line_ids', 'journal_id'],
    'account.payment': ['amount', 'partner_id', 'journal_id', 'state'],
    'crm.lead': ['name', 'partner_id', 'stage_id', 'team_id', 'tag_ids', 'contact_name'],
    'hr.employee': ['name', 'user_id', 'department_id', 'job_id', 'company_id', 'active', 'barcode'],
    'product.template': ['name', 'list_price', 'standard_price', 'categ_id', 'active'],
    'project.task': ['name', 'project_id', 'partner_id', 'date_deadline', 'state', 'tag_ids'],
    'purchase.order': ['partner_id', 'order_line', 'date_order', 'state'],
    'res.partner': ['name', 'email', 'phone', 'vat', 'street', 'parent_id', 'active', 'category_id'],
    'sale.order': ['partner_id', 'order_line', 'state', 'date_order', 'note', 'partner_shipping_id'],
    'sale.order.line': ['order_id', 'product_id', 'product_uom_qty', 'price_unit', 'tax_id'],
    'stock.picking': ['partner_id', 'move_ids', 'location_id', 'scheduled_date', 'picking_type_id'],
    'stock.move': ['product_id', 'product_uom_qty', 'quantity', 'picking_id', 'state'],
  };
  for (const [model, fields] of Object.entries(everyday))
    for (const field of fields) expect([model, field, ...list(model, field)]).toEqual([model, field]);
});

test('a new record needs a link for some, and does not have others', () => {
  expect(findWrittenModels('crm.lead', 'email_from')).toMatchObject([
    { linkedBy: ['partner_id'], isOfExisting: false },
  ]);
  const email = findWrittenModels('hr.employee', 'work_email').find(({ model }) => model === 'res.partner');
  expect(email?.linkedBy).toEqual(expect.arrayContaining(['user_id', 'work_contact_id']));
  expect(findWrittenModels('event.event', 'organizer_id')).toMatchObject([
    { linkedBy: null, isOfExisting: true },
  ]);
});

test('what is deleted with a record does not count before', () => {
  expect(findWrittenModels('hr.leave', 'meeting_id')).toMatchObject([{ isOfDeleted: true }]);
  expect(findWrittenModels('lunch.supplier', 'send_by')).toMatchObject([{ isOfDeleted: false }]);
  // A product is deleted with its last variant only, and a message only with files of its own.
  expect(list('mail.message', 'attachment_ids')).toEqual([]);
  expect(list('product.product', 'product_tmpl_id')).not.toContain('product.template/unlink');
});

test('every row has a model, a method and fields', () => {
  const fields = listWrittenFields();
  expect(fields.size).toBeGreaterThan(40);
  for (const [model, rows] of fields) {
    expect(model).toMatch(/^[a-z0-9_.]+$/);
    for (const [name, written] of rows) {
      expect(name).toMatch(/^[a-z0-9_]+(\(\))?$/);
      for (const row of written) {
        expect(row.model).toMatch(/^[a-z0-9_.]+$/);
        expect(['create', 'write', 'unlink']).toContain(row.method);
        for (const link of row.linkedBy ?? []) expect(link).toMatch(/^[a-z0-9_]+$/);
      }
    }
  }
});

test('no other model', () => {
  for (const [model, field] of [
    ['x.model', 'email_from'],
    ['crm.lead', 'constructor'],
    ['__proto__', 'a'],
    ['', ''],
  ])
    expect(list(model!, field!)).toEqual([]);
});

test('no target is left out that a policy must name, unless review.json says why', () => {
  const targets = LEFT_OUT.trim().split('\n');
  expect(targets.length).toBeGreaterThan(200);
  expect(targets.filter((target) => isSensitive(...(target.split('/') as [string, string])))).toEqual([]);
});

test('a field with JSON that a call can set has a row, unless review.json says why it needs none', () => {
  const fields = JSON_VALUES.trim().split('\n');
  expect(fields.length).toBeGreaterThan(2);
  for (const line of fields) {
    const [model = '', field = ''] = line.split(' ');
    const needs = isSensitive(model, 'write') || list(model, field).length > 0;
    expect([line, needs]).toEqual([line, true]);
  }
});

test('a model that has the fields of one that a policy must name must be named too', () => {
  const heirs = HEIRS.trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string, string]);
  expect(heirs).toEqual(expect.arrayContaining([['product.document', 'delegates', 'ir.attachment']]));
  for (const [heir, , model] of heirs)
    for (const method of ['create', 'write'])
      if (isSensitive(model, method))
        expect([heir, method, isSensitive(heir, method)]).toEqual([heir, method, true]);
});

test('and a model that has those of files', () => {
  const files = HEIRS.trim()
    .split('\n')
    .filter((line) => line.endsWith(' delegates ir.attachment'));
  expect(files.length).toBeGreaterThan(1);
  for (const line of files) expect([line, isSensitive(line.split(' ')[0]!, 'create')]).toEqual([line, true]);
});

function isSensitive(model: string, method: string): boolean {
  return findSensitivity(model, method) !== null;
}
