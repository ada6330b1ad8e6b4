/**
 * Finds the PDF of a report of one record. Odoo prints no report for an API key (docs/odoo-facts.md#report-methods), so
 * that the first of these ways is used that serves: a PDF that Odoo keeps, the page of the record for its customer, an
 * email template that attaches the report. The record has been read before: the user of Odoo may see it.
 * docs/documents.md has what was measured.
 */
import {
  Denial,
  type FollowUp,
  type Reply,
  type ServerAccess,
  type ServerFailure,
} from '@erp-proxy/gateway/terms';
import { MISSING_RECORD } from '../missing-record.ts';
import { listNamedFields, nameAttachment } from './attachment-name.ts';
import { listTemplates, printByTemplate, type Template } from './email-template.ts';
import { describePdf, readDispositionName } from './pdf-file.ts';
import { readAttachment } from './read-attachment.ts';
import { chooseReport, denyParameter, listNames, listReports, type Report, readRows } from './reports.ts';

export interface AskedDocument {
  readonly model: string;
  readonly record: number;
  readonly report: string | null;
  readonly lang: string | null;
}

/** By model: the report that the page of a record prints for its customer, the same in Odoo 14 to 19. */
const PORTAL_REPORTS: ReadonlyMap<string, string> = new Map([
  ['account.move', 'account.account_invoices'],
  ['project.task', 'hr_timesheet.timesheet_report_task_timesheets'],
  ['purchase.order', 'purchase.action_report_purchase_order'],
  ['sale.order', 'sale.action_report_saleorder'],
]);

/** Fields of a record that decide about its document, as far as its model has them. */
export const DECIDING_FIELDS: ReadonlyMap<string, string> = new Map([
  // From 17 on: the PDF that was sent to the customer.
  ['account.move', 'invoice_pdf_report_id'],
  ['purchase.order', 'state'],
]);

/** Returns the reply with the PDF. */
export function findDocument(asked: AskedDocument): FollowUp {
  return async (result, server) => {
    const row = readRows(result)[0];
    if (row === undefined) return { kind: 'fault', fault: MISSING_RECORD };
    return await new DocumentFinder(asked, row, server).find();
  };
}

class DocumentFinder {
  readonly #asked: AskedDocument;
  readonly #row: Readonly<Record<string, unknown>>;
  readonly #server: ServerAccess;
  readonly #context: object;

  constructor(asked: AskedDocument, row: Readonly<Record<string, unknown>>, server: ServerAccess) {
    this.#asked = asked;
    this.#row = row;
    this.#server = server;
    this.#context = asked.lang === null ? {} : { lang: asked.lang };
  }

  async find(): Promise<Reply> {
    const { model, report: named } = this.#asked;
    const unknown = await this.#checkLanguage();
    if (unknown !== null) return unknown;
    const reports = await listReports(model, this.#context, this.#server);
    if ('failed' in reports) return reports.failed;
    const report = chooseReport(reports, model, named, PORTAL_REPORTS.get(model));
    if (report instanceof Denial) return report;
    const kept = await this.#findKept(report);
    if (kept !== null) return kept;
    const page = await this.#printByPage(report);
    if (page !== null && !('isAnswered' in page && page.isAnswered))
      return 'failed' in page ? page.failed : page;
    const templates = await listTemplates(model, this.#server);
    if ('failed' in templates) return templates.failed;
    const template = templates.find(({ reportIds }) => reportIds.length === 1 && reportIds[0] === report.id);
    if (template !== undefined) return await this.#printByTemplate(template);
    return page === null ? this.#explainNoWay(report, reports, templates) : page.failed;
  }

  /** Odoo ignores a language that is not installed. */
  async #checkLanguage(): Promise<ServerFailure | null> {
    const { lang } = this.#asked;
    if (lang === null) return null;
    const question = {
      model: 'res.lang',
      method: 'get_installed',
      params: [],
      keyword: {},
    };
    const answer = await this.#server.ask(question);
    if ('failed' in answer) return answer.failed;
    const installed: unknown = JSON.parse(answer.result.toString());
    const codes = Array.isArray(installed) ? installed.map((language) => String(language?.[0])) : [];
    if (codes.includes(lang)) return null;
    const known = codes.slice(0, 20).join(', ');
    return denyParameter('lang', `\`lang\` must be a language that is installed in Odoo: ${known}.`);
  }

  /** The PDF that Odoo keeps for the record; null if it keeps none. */
  async #findKept(report: Report): Promise<Reply | null> {
    const { model } = this.#asked;
    if (model === 'account.move') {
      if (report.xmlid === PORTAL_REPORTS.get(model))
        return await this.#readKept(readId(this.#row['invoice_pdf_report_id']));
      // Odoo adds a notice to each page, which the file itself lacks.
      if (report.xmlid === 'account.action_account_original_vendor_bill')
        return await this.#readKept(await this.#readMainAttachment());
    }
    const fields = report.keptAs === null ? null : listNamedFields(report.keptAs);
    return fields === null ? null : await this.#readKept(await this.#findNamed(report.keptAs!, fields));
  }

  /** Null for a file of another record: a caller can write the link to it (docs/odoo-facts.md#main-attachment). */
  async #readKept(attachment: number | null): Promise<Reply | null> {
    if (attachment === null) return null;
    const { model, record } = this.#asked;
    const read = await readAttachment(attachment, this.#server);
    return 'failed' in read || read.owner !== `${model},${record}` ? null : read.reply;
  }

  async #readMainAttachment(): Promise<number | null> {
    const [row] = await this.#readRecord(['message_main_attachment_id']);
    return readId(row?.['message_main_attachment_id']);
  }

  /** The attachment of the record with the name that the report gives it. */
  async #findNamed(expression: string, fields: readonly string[]): Promise<number | null> {
    const { model, record } = this.#asked;
    const [row] = fields.length === 0 ? [{}] : await this.#readRecord(fields);
    const name = row === undefined ? null : nameAttachment(expression, row);
    if (name === null) return null;
    const domain = [
      ['name', '=', name],
      ['res_model', '=', model],
      ['res_id', '=', record],
    ];
    const rows = await this.#read('ir.attachment', 'search_read', [], { domain, fields: ['id'], limit: 1 });
    return rows.length === 0 ? null : Number(rows[0]!['id']);
  }

  async #readRecord(fields: readonly string[]): Promise<Record<string, unknown>[]> {
    const { model, record } = this.#asked;
    return await this.#read(model, 'read', [[record], fields], {});
  }

  /** No rows if Odoo refuses the call: the next way may serve. */
  async #read(
    model: string,
    method: string,
    params: readonly unknown[],
    keyword: Record<string, unknown>,
  ): Promise<Record<string, unknown>[]> {
    const answer = await this.#server.ask({ model, method, params, keyword });
    return 'failed' in answer ? [] : readRows(answer.result);
  }

  /** Null if the page of the record does not print this report. */
  async #printByPage(report: Report): Promise<Reply | { failed: Denial; isAnswered: boolean } | null> {
    const { model, record, lang } = this.#asked;
    if (report.xmlid === '' || PORTAL_REPORTS.get(model) !== report.xmlid) return null;
    // 19 prints the request for quotation in place of an order that was only sent.
    if (model === 'purchase.order' && this.#row['state'] === 'sent') return null;
    const answer = await this.#server.ask({
      model,
      method: 'get_portal_url',
      params: [[record]],
      keyword: { report_type: 'pdf', download: true },
    });
    if ('failed' in answer) {
      const { failed } = answer;
      return failed instanceof Denial ? { failed, isAnswered: false } : null;
    }
    const path: unknown = JSON.parse(answer.result.toString());
    if (typeof path !== 'string' || !PATH.test(path)) return null;
    const found = await this.#server.getPdf(path, lang);
    if ('failed' in found) return found;
    const name = readDispositionName(found.disposition ?? '') ?? `${model.replaceAll('.', '_')}-${record}`;
    return { ...found.reply, file: describePdf(name) };
  }

  async #printByTemplate(template: Template): Promise<Reply> {
    const { model, record } = this.#asked;
    return await printByTemplate(template, { model, record, context: this.#context }, this.#server);
  }

  #explainNoWay(report: Report, reports: readonly Report[], templates: readonly Template[]): Denial {
    const { model } = this.#asked;
    const portal = PORTAL_REPORTS.get(model);
    const served = reports.filter(
      ({ id, xmlid }) =>
        (xmlid !== '' && xmlid === portal) ||
        templates.some(({ reportIds }) => reportIds.length === 1 && reportIds[0] === id),
    );
    const others = served.length === 0 ? '' : ` Reports that can be had: ${listNames(served)}.`;
    return denyParameter(
      'report',
      `Odoo gives programs no PDF of ${listNames([report])}. In Odoo, add an email template for \`${model}\` that attaches this report and no other (Settings, Technical, Email Templates), and send the request again.${others}`,
    );
  }
}

/** A path of the same server, with its query. */
const PATH = /^\/[\w-][\x21-\x22\x24-\x7e]{0,2000}$/;

/** The id of a many2one; null if it is empty. */
function readId(value: unknown): number | null {
  return Array.isArray(value) && typeof value[0] === 'number' ? value[0] : null;
}
