/**
 * Prints a report by an email template that attaches it, without sending an email (docs/odoo-facts.md#template-pdf). Up
 * to 16, a method of the template returns the PDF, and writes nothing. From 17 on, the window for a new message stores
 * it as an attachment, which is removed again.
 */
import { Denial, type Reply, type ServerAccess, type ServerFailure } from '@erp-proxy/gateway/terms';
import { findValue, isObject, type JsonSpan, readElements, readMembers } from '@erp-proxy/json';
import { replyPdf } from './pdf-file.ts';
import { PDF_ANSWER_BYTES_MAX, readAttachment } from './read-attachment.ts';
import { readRows } from './reports.ts';

export interface Template {
  readonly id: number;
  readonly reportIds: readonly number[];
  /** True for 17 and later. */
  readonly hasReportList: boolean;
}

const MODEL = 'mail.template';
const COMPOSER = 'mail.compose.message';
const TEMPLATES_MAX = 200;
/** More members than the values of an email have. */
const MEMBERS_MAX = 100;

/** The email templates of the model that attach reports. None if Odoo has none, or does not show them to its user. */
export async function listTemplates(
  model: string,
  server: ServerAccess,
): Promise<Template[] | { failed: ServerFailure }> {
  const field = await findReportField(server);
  if (field === null) return [];
  if (typeof field !== 'string') return field;
  const domain = [
    ['model', '=', model],
    [field, '!=', false],
  ];
  const keyword = { domain, fields: [field], order: 'id', limit: TEMPLATES_MAX };
  const answer = await server.ask({
    model: MODEL,
    method: 'search_read',
    params: [],
    keyword,
  });
  if ('failed' in answer) return listNone(answer.failed) ?? [];
  const hasReportList = field === 'report_template_ids';
  return readRows(answer.result).map((row) => {
    const value = row[field];
    const ids: unknown[] = Array.isArray(value) ? value : [];
    // Up to 16, the value is an id and its name.
    return {
      id: Number(row['id']),
      reportIds: (hasReportList ? ids : ids.slice(0, 1)).map(Number),
      hasReportList,
    };
  });
}

/** The field with the reports. Null if Odoo has no email templates, or does not show them. */
async function findReportField(server: ServerAccess): Promise<string | null | { failed: ServerFailure }> {
  const names = ['report_template_ids', 'report_template'];
  const answer = await server.ask({
    model: MODEL,
    method: 'fields_get',
    params: [names],
    keyword: { attributes: ['type'] },
  });
  if ('failed' in answer) return listNone(answer.failed);
  const fields: unknown = JSON.parse(answer.result.toString());
  return names.find((name) => isObject(fields) && name in fields) ?? null;
}

/** Null for an error that Odoo raised. */
function listNone(failed: ServerFailure): { failed: ServerFailure } | null {
  return failed instanceof Denial ? { failed } : null;
}

interface PrintedRecord {
  model: string;
  record: number;
  context: object;
}

export async function printByTemplate(
  template: Template,
  printed: PrintedRecord,
  server: ServerAccess,
): Promise<Reply> {
  const print = template.hasReportList ? printByComposer : printByMethod;
  const reply = await print(template, printed, server);
  return reply ?? NO_PDF;
}

async function printByMethod(
  { id }: Template,
  { record, context }: PrintedRecord,
  server: ServerAccess,
): Promise<Reply | null> {
  const answer = await server.ask({
    model: MODEL,
    method: 'generate_email',
    params: [[id], record, ['subject']],
    keyword: { context },
    bytesMax: PDF_ANSWER_BYTES_MAX,
  });
  if ('failed' in answer) return answer.failed;
  const { result } = answer;
  const email = { kind: 'object', start: 0, end: result.length } as const;
  const attachments = findValue(readMembers(result, email, MEMBERS_MAX), 'attachments');
  // A list of pairs of name and content. Other modules add their files after that of the report.
  const [pair] = attachments === undefined ? [] : listElements(result, attachments);
  const [name, content] = pair === undefined ? [] : listElements(result, pair);
  if (name?.kind !== 'string' || content === undefined) return null;
  return await replyPdf(result, content, String(JSON.parse(result.toString('utf8', name.start, name.end))));
}

function listElements(bytes: Uint8Array, list: JsonSpan): JsonSpan[] {
  const elements: JsonSpan[] = [];
  if (list.kind === 'array') readElements(bytes, list, (element) => elements.push(element) < MEMBERS_MAX);
  return elements;
}

async function printByComposer(
  { id }: Template,
  { model, record, context }: PrintedRecord,
  server: ServerAccess,
): Promise<Reply | null> {
  const values = { model, res_ids: `[${record}]`, composition_mode: 'comment', template_id: id };
  const answer = await server.ask({
    model: COMPOSER,
    method: 'onchange',
    params: [[], values, ['template_id'], { attachment_ids: {} }],
    keyword: { context },
  });
  if ('failed' in answer) return answer.failed;
  const attachment = findNewest(JSON.parse(answer.result.toString()));
  if (attachment === null) return null;
  const read = await readAttachment(attachment, server);
  if ('failed' in read) return read.failed;
  // Other attachments are files of the template. Odoo itself removes a file that stays, after a day.
  if (read.owner.startsWith(`${COMPOSER},`))
    await server.ask({
      model: 'ir.attachment',
      method: 'unlink',
      params: [[attachment]],
      keyword: {},
    });
  return read.reply;
}

/** The highest id in the commands for `attachment_ids`: that of the file that was just made. */
function findNewest(changes: unknown): number | null {
  const value = isObject(changes) && isObject(changes['value']) ? changes['value'] : {};
  const commands = Array.isArray(value['attachment_ids']) ? value['attachment_ids'] : [];
  const ids = commands.flatMap((command: unknown) => {
    const [code, id, list] = Array.isArray(command) ? command : [];
    return code === LINK ? [id] : code === SET && Array.isArray(list) ? list : [];
  });
  const numbers = ids.filter((id) => typeof id === 'number');
  return numbers.length === 0 ? null : Math.max(...numbers);
}

/** Commands of Odoo for related records. */
const LINK = 4;
const SET = 6;

const NO_PDF = new Denial('upstream_bad_response', 'The email template of Odoo has given no PDF.', {});
