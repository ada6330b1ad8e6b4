/** The address of a document as a resource of MCP: `erp-proxy:///prod/sale.order/7/document?report=…&lang=…`. Pure. */

export interface DocumentPlace {
  readonly instance: string;
  readonly model: string;
  readonly record: number;
  readonly report?: string | undefined;
  readonly lang?: string | undefined;
}

export const DOCUMENT_URI_TEMPLATE = 'erp-proxy:///{instance}/{model}/{id}/document{?report,lang}';

const PATH = /^\/([^/]{1,300})\/([A-Za-z0-9_.]{1,100})\/([1-9]\d{0,9})\/document$/;

export function printDocumentUri({ instance, model, record, report, lang }: DocumentPlace): string {
  const query = new URLSearchParams({
    ...(report === undefined ? {} : { report }),
    ...(lang === undefined ? {} : { lang }),
  });
  const path = `erp-proxy:///${encodeURIComponent(instance)}/${model}/${record}/document`;
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Null if it is not the address of a document. */
export function parseDocumentUri(uri: string): DocumentPlace | null {
  const url = URL.parse(uri);
  if (url === null || url.protocol !== 'erp-proxy:' || url.host !== '') return null;
  const [, instance, model, record] = PATH.exec(url.pathname) ?? [];
  if (instance === undefined || model === undefined) return null;
  try {
    return {
      instance: decodeURIComponent(instance),
      model,
      record: Number(record),
      report: url.searchParams.get('report') ?? undefined,
      lang: url.searchParams.get('lang') ?? undefined,
    };
  } catch {
    return null;
  }
}
