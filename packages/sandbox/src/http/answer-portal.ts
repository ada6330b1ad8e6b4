/** The portal page of an order: its quotation as PDF, for the token that opens the page. */
import type { Environment } from '../orm/model.ts';
import type { Row } from '../orm/row.ts';
import type { Instance } from '../rpc/instance.ts';
import type { HttpRequest } from './http-request.ts';
import { bakeSession, replyNotFound, replyRedirect } from './pages.ts';
import { printPdf } from './print-pdf.ts';
import { contentLength, nosniff, type Reply } from './reply.ts';

const PAGE = /^\/my\/orders\/(\d{1,9})$/;

export function answerPortal(
  instance: Instance,
  { method }: HttpRequest,
  path: string,
  query: string,
): Reply {
  const { wire } = instance.personality;
  const [, id] = PAGE.exec(path) ?? [];
  const given = new URLSearchParams(query);
  const environment = instance.environment(0).sudo();
  const token = given.get('access_token') ?? '';
  const order = environment.store.get('sale.order', Number(id));
  if (order === undefined || order['access_token'] !== token)
    return replyRedirect('/my', [bakeSession(wire)]);
  // The page itself is not simulated.
  if (method !== 'GET' || given.get('report_type') !== 'pdf') return replyNotFound(wire);
  const name = order['state'] === 'draft' || order['state'] === 'sent' ? 'Quotation' : 'Order';
  const file = encodeURIComponent(`${name}-${String(order['name'])}.pdf`);
  return {
    status: 200,
    headers: [
      ['Content-Type', 'application/pdf'],
      contentLength,
      ['Content-Disposition', `attachment; filename*=UTF-8''${file}`],
      bakeSession(wire),
      ...(wire.nosniff ? [nosniff] : []),
    ],
    body: printPdf(listLines(environment, order, name)),
  };
}

function listLines({ store }: Environment, order: Row, name: string): string[] {
  const partner = store.get('res.partner', order['partner_id'] as number);
  const lines = [...store.table('sale.order.line').where('order_id', order['id'] as number)];
  return [
    `${name} ${String(order['name'])}`,
    String(partner?.['name'] ?? ''),
    ...lines.map((line) => `${String(line['product_uom_qty'] ?? 0)} x ${String(line['name'])}`),
    `Total ${Number(order['amount_total'] ?? 0).toFixed(2)}`,
  ];
}
