/** The reports of a model, and the one that a request names. Pure, except for the question to Odoo. */
import { Denial, type ServerAccess, type ServerFailure } from '@erp-proxy/gateway/terms';
import { isObject } from '@erp-proxy/json';
import { findNearestNames } from '@erp-proxy/text';

export interface Report {
  readonly id: number;
  /** External id, such as `sale.action_report_saleorder`; empty if it has none. */
  readonly xmlid: string;
  /** Label in the language of the request. */
  readonly name: string;
  /** Name of its template, such as `sale.report_saleorder`. */
  readonly template: string;
  /** Expression that names the file that Odoo keeps and uses again; null: it prints the report each time. */
  readonly keptAs: string | null;
  /** True if Odoo offers it in the menu of the model. */
  readonly isOffered: boolean;
}

const REPORTS_MAX = 200;
const NEAREST_MAX = 5;

/** The reports of the model that are PDFs, in the order of the menu. */
export async function listReports(
  model: string,
  context: object,
  server: ServerAccess,
): Promise<Report[] | { failed: ServerFailure }> {
  const answer = await server.ask({
    model: 'ir.actions.report',
    method: 'search_read',
    params: [],
    keyword: {
      domain: [
        ['model', '=', model],
        ['report_type', '=', 'qweb-pdf'],
      ],
      fields: ['name', 'xml_id', 'report_name', 'attachment', 'attachment_use', 'binding_model_id'],
      order: 'id',
      limit: REPORTS_MAX,
      context,
    },
  });
  return 'failed' in answer ? answer : readRows(answer.result).map(readReport);
}

/** Rows of `read` and `search_read`. */
export function readRows(result: Buffer): Record<string, unknown>[] {
  const rows: unknown = JSON.parse(result.toString());
  return Array.isArray(rows) ? rows.filter(isObject) : [];
}

function readReport(row: Record<string, unknown>): Report {
  const text = (name: string) => (typeof row[name] === 'string' ? row[name] : '');
  const attachment = text('attachment');
  return {
    id: Number(row['id']),
    xmlid: text('xml_id'),
    name: text('name'),
    template: text('report_name'),
    keptAs: row['attachment_use'] === true && attachment !== '' ? attachment : null,
    isOffered: row['binding_model_id'] !== false,
  };
}

/** The report with this xmlid or name; null: the usual one, or the first one that Odoo offers for the model. */
export function chooseReport(
  reports: readonly Report[],
  model: string,
  asked: string | null,
  usual: string | undefined,
): Report | Denial {
  if (reports.length === 0)
    return new Denial('invalid_params', `\`${model}\` has no report that is printed as PDF.`, {
      path: 'model_id',
    });
  if (asked === null) {
    const found = reports.find(({ xmlid }) => xmlid === usual) ?? reports.find(({ isOffered }) => isOffered);
    return found ?? reports[0]!;
  }
  for (const member of ['xmlid', 'template', 'name'] as const) {
    const found = reports.filter((report) => report[member] === asked);
    if (found.length === 1) return found[0]!;
    if (found.length > 1)
      return denyParameter(
        'report',
        `Several reports of \`${model}\` have this name: send one of ${listNames(found)}.`,
      );
  }
  const names = reports.flatMap(({ xmlid, name }) => [xmlid, name]).filter((name) => name !== '');
  const near = new Set(findNearestNames(asked, names, NEAREST_MAX));
  const nearest = reports.filter(({ xmlid, name }) => near.has(xmlid) || near.has(name));
  const shown = nearest.length > 0 ? nearest : reports.slice(0, NEAREST_MAX);
  return denyParameter(
    'report',
    `\`report\` is unknown for \`${model}\`. Its reports are ${listNames(shown)}.`,
  );
}

/** The denial of a value that Odoo does not know. */
export function denyParameter(path: 'lang' | 'report', message: string): Denial {
  return new Denial('invalid_params', message, { path });
}

/** The names by which reports can be asked for. */
export function listNames(reports: readonly Report[]): string {
  return reports.map(({ xmlid, name }) => (xmlid === '' ? `"${name}"` : `\`${xmlid}\``)).join(', ');
}
