/**
 * Which fields change records of other models, or send something, when a call sets them, and which methods do so. Reads
 * the table in written-models-data.ts, and rows of the same form for fields that the script which writes the table
 * cannot find. Independent of policies.
 */

import type { ByteRange } from '@erp-proxy/json';
import { readTableLines } from '../table-lines.ts';
import { listDelegates } from './delegating-models.ts';
import { makeNameFilter, type NameFilter } from './name-filter.ts';
import { WRITTEN_MODELS } from './written-models-data.ts';

export interface WrittenModel {
  model: string;
  method: 'create' | 'write' | 'unlink';
  /** Fields that link a new record to the record that changes. If given, a new record needs one of them. */
  linkedBy: readonly string[] | null;
  /** True: setting the field of a new record changes nothing in the other model. */
  isOfExisting: boolean;
  /** True: the record that the field names changes when the record with the field is deleted, and not before. */
  isOfDeleted: boolean;
}

const POS_MODULES = [
  ...['account', 'pos_appointment', 'pos_avatax', 'pos_discount', 'pos_hr', 'pos_loyalty', 'pos_mercury'],
  ...['pos_restaurant', 'pos_restaurant_appointment', 'pos_sms'],
];

const KARMA_OF_FORUM = [
  ...['answer_accept', 'answer_accepted', 'answer_downvote', 'answer_flagged', 'answer_upvote'],
  ...['question_downvote', 'question_new', 'question_upvote'],
];

/**
 * The hash that locks an entry, and numbers by which Odoo reconciles lines or takes them for reconciled. A form that is
 * a bank account with more fields, one that changes an order, mail and followers of each new record, a document that
 * fields name, a ticket of Enterprise, modules that a point of sale installs, and the totals of an invoice, which the
 * script takes for a workflow. Phones of applicants and tickets: Odoo finds their contact by the email. Formulas of
 * reports, which only Odoo Enterprise evaluates as domains, and a path of fields of an order, which Odoo follows step
 * by step. Karma: users get the amount when they finish a course, answer a quiz or take part in a forum. JSON in which
 * the call gives receivers, author and files of a mail: a scheduled action sends it for an invoice, a form at once.
 * Shares of the bank accounts to which wages go. Mail of an event, which a scheduled action sends unless it is sent
 * already. Reminders of a meeting, for all who attend, and attendees, who follow it. Tests of mailings, of which a
 * scheduled action sends the best. The title of a task: its words with `#` become tags, and those with `@` assign
 * users, who are searched by name and get mail (17 to 19).
 */
const FURTHER_ROWS = `
account.setup.bank.manual.config copy(),create(),load(),name_create(),web_save()=res.partner.bank/create
account.setup.bank.manual.config load(),res_partner_bank_id,web_save(),web_save_multi(),write()=res.partner.bank/write
account.move inalterable_hash,secure_sequence_number=account.secure.entries.wizard/create
account.move sending_data,send_and_print_values=mail.mail/create tax_totals,tax_totals_json=account.move.line/write
account.move.line full_reconcile_id,matching_number=account.partial.reconcile/create
account.move.send mail_attachments_widget=mail.mail/create
account.move.send.wizard mail_attachments_widget=mail.mail/create
account.report.expression formula=ir.filters/create
account.report.line domain_formula=ir.filters/create
calendar.attendee event_id,partner_id=mail.followers/write
calendar.event alarm_ids=mail.mail/create?attendee_ids,partner_ids partner_ids=mail.mail/create res_id,res_model,res_model_id=mail.activity/create
event.mail event_id,template_id,template_ref=mail.mail/create
event.registration email,state=mail.mail/create
forum.forum ${KARMA_OF_FORUM.map((name) => `karma_gen_${name}`).join()}=res.users/write
gamification.karma.tracking gain,new_value,user_id=res.users/write
hr.employee salary_distribution=res.partner.bank/write
helpdesk.ticket partner_email=res.partner/write?partner_id partner_phone=res.partner/write?partner_email,partner_id
helpdesk.ticket stage_id=mail.mail/create user_id=mail.followers/write
hr.applicant partner_mobile,partner_phone=res.partner/write?candidate_id,email_from,partner_id
hr.candidate partner_phone=res.partner/write?email_from,partner_id
mail.activity user_id=mail.followers/write
mrp.eco user_id=mail.followers/write
project.task display_name=mail.followers/write display_name=project.tags/create
quality.alert user_id=mail.followers/write
sale.order.discount action_apply_discount()=sale.order/write
sale.pdf.form.field path=ir.filters/create
slide.channel karma_gen_channel_finish,karma_gen_channel_rank,karma_gen_slide_vote=res.users/write
slide.slide ${['first', 'second', 'third', 'fourth'].map((name) => `quiz_${name}_attempt_reward`).join()}=res.users/write
slide.slide website_published=mail.mail/create!?channel_id,slide_partner_ids
utm.campaign ab_testing_completed,ab_testing_schedule_datetime,ab_testing_winner_selection=mailing.mailing/write
pos.config ${POS_MODULES.map((name) => `module_${name}`).join()}=ir.module.module/write
`;

/** The name under which the table has a method that changes other models, whatever its arguments. */
export function nameMethod(method: string): string {
  return `${method}()`;
}

/** The changes that setting the field of the model makes; empty: none that a policy must allow. */
export function findWrittenModels(model: string, field: string): readonly WrittenModel[] {
  return readModel(model)?.rows.get(field) ?? [];
}

/** The changes that a copy makes with values of its source if a value of the call links it to another record. */
export function listLinkedModels(model: string): readonly WrittenModel[] {
  return [...(readModel(model)?.rows.values() ?? [])].flat().filter(({ linkedBy }) => linkedBy !== null);
}

/** A cheap check, which is false for nearly all names without a row. The range includes the quotes. */
export function couldBeWritten(model: string, bytes: Uint8Array, name: ByteRange): boolean {
  return readModel(model)?.couldHave(bytes, name) ?? false;
}

/** By model: the fields that change other models. */
export function listWrittenFields(): Map<string, ReadonlyMap<string, readonly WrittenModel[]>> {
  return new Map([...getLines().keys()].map((model) => [model, readModel(model)!.rows]));
}

interface ReadModel {
  rows: ReadonlyMap<string, readonly WrittenModel[]>;
  couldHave: NameFilter;
}

/** The lines of the data by model, and the parsed lines. The size of the data bounds both. */
let lines: ReadonlyMap<string, readonly string[]> | null = null;
const read = new Map<string, ReadModel>();

function getLines(): ReadonlyMap<string, readonly string[]> {
  lines ??= readLines();
  return lines;
}

function readLines(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name: model, words } of [WRITTEN_MODELS, FURTHER_ROWS].flatMap(readTableLines)) {
    found.set(model, [...(found.get(model) ?? []), ...words]);
  }
  return found;
}

function readModel(model: string): ReadModel | null {
  const known = read.get(model);
  if (known !== undefined) return known;
  const delegates = listDelegates(model);
  if (![model, ...delegates].some((each) => getLines().has(each))) return null;
  const rows = new Map<string, WrittenModel[]>();
  // The model has the fields of these models as its own, but not their methods.
  for (const each of delegates) addRows(rows, each, (name) => !name.endsWith(nameMethod('')));
  addRows(rows, model, () => true);
  const found = { rows, couldHave: makeNameFilter([...rows.keys()]) };
  read.set(model, found);
  return found;
}

function addRows(rows: Map<string, WrittenModel[]>, model: string, counts: (name: string) => boolean): void {
  for (const word of getLines().get(model) ?? []) {
    const { names, written } = readWord(word);
    for (const name of names.filter(counts)) {
      const others = rows.get(name)?.filter((other) => !isCovered(other, written)) ?? [];
      rows.set(name, [...others, written]);
    }
  }
}

/** Rows that are read later, the further rows, replace rows of the script. */
function isCovered(row: WrittenModel, by: WrittenModel): boolean {
  return row.model === by.model && row.method === by.method;
}

const WORD =
  /^(?<names>[^=]+)=(?<model>[^/]+)\/(?<method>create|write|unlink)(?<mark>[!~]?)(?:\?(?<links>[^@]+))?(?:@.+)?$/;

function readWord(word: string): { names: string[]; written: WrittenModel } {
  const { names = '', model = '', method, mark, links } = WORD.exec(word)?.groups ?? {};
  return {
    names: names.split(','),
    written: {
      model,
      method: method as WrittenModel['method'],
      linkedBy: links === undefined ? null : links.split(','),
      isOfExisting: mark === '!',
      isOfDeleted: mark === '~',
    },
  };
}
