/** The ways to a document, against a server that answers as each version of Odoo does: which serves, and what fails. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type HttpAnswer, type Proxy as RunningProxy, send, startProxy } from '../harness.ts';
import { readInFlight } from '../read-in-flight.ts';
import { answerLikeOdoo, printResult } from '../scripted-upstream.ts';
import { describeReport, type FakeOdoo, Fault, HANDLED, PDF, servePdf, startOdoo } from './odoo.ts';

const TOKEN = '2a9c7a52-5b0a-4f7e-9d8f-1c0f7d9a4b11';
const INVOICES = 'account.account_invoices';
const ORDERS = 'sale.action_report_saleorder';

let odoo: FakeOdoo;
let proxy: RunningProxy;
let userId = 2;

beforeAll(async () => {
  odoo = await startOdoo();
  proxy = await startProxy({ allow: [odoo.url], settings: { 'upstream.retries': '0' } });
});
afterAll(async () => {
  await proxy.close();
  await odoo.upstream.close();
});
beforeEach(() => {
  odoo.asked.length = 0;
  odoo.pages.length = 0;
  odoo.page = () => servePdf('Quotation-S00007.pdf');
  // The proxy keeps types of fields by user.
  userId++;
  odoo.calls = {
    'sale.order.read': [{ id: 7, display_name: 'S00007' }],
    'account.move.read': [{ id: 7, display_name: 'INV/7', invoice_pdf_report_id: false }],
    'account.move.fields_get': {
      display_name: { type: 'char' },
      invoice_pdf_report_id: { type: 'many2one' },
    },
    'purchase.order.fields_get': { display_name: { type: 'char' }, state: { type: 'selection' } },
    'res.partner.read': [{ id: 7, display_name: 'Azure' }],
    'ir.actions.report.search_read': [describeReport(1, ORDERS)],
    'sale.order.get_portal_url': `/my/orders/7?access_token=${TOKEN}&report_type=pdf&download=true`,
    'account.move.get_portal_url': `/my/invoices/7?access_token=${TOKEN}&report_type=pdf&download=true`,
    'mail.template.fields_get': {},
  };
});

function ask(body: object = {}, headers: Record<string, string> = {}, key = proxy.key): Promise<HttpAnswer> {
  const instance = { url: odoo.url, db: 'prod', user_id: userId, api_key: 'upstream-key-0123456789' };
  return send(`${proxy.url}/api/erp/document`, {
    method: 'POST',
    headers: { 'x-proxy-api': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ id: 'd', model_id: 'sale.order', record: 7, erp_instance: instance, ...body }),
  });
}

const readError = ({ body }: HttpAnswer) => JSON.parse(body.toString()).error;
const listAsked = () => odoo.asked.map(({ name }) => name);

test('a page of the record gives its PDF, by the token that Odoo has given', async () => {
  const got = await ask();
  expect(got.status).toBe(200);
  expect(got.body).toEqual(PDF);
  expect(got.headers).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': 'attachment; filename="Quotation-S00007.pdf"',
    'x-content-type-options': 'nosniff',
  });
  expect(got.headers).not.toHaveProperty('set-cookie');
  const path = `/my/orders/7?access_token=${TOKEN}&report_type=pdf&download=true`;
  expect(odoo.pages).toEqual([{ path, cookie: undefined, database: 'prod' }]);
});

test('the token is in no answer, log or metric, whatever the page answers', async () => {
  const requestId = 'secret-token';
  for (const status of ['200 OK', '303 SEE OTHER', '500 ERROR', '404 NOT FOUND']) {
    odoo.page = () => ({ status, headers: { Location: `/my?access_token=${TOKEN}` }, body: '<html>' });
    const got = await ask({}, { 'x-request-id': requestId });
    expect(got.body.toString() + JSON.stringify(got.headers)).not.toContain(TOKEN);
  }
  const lines = () => proxy.log.filter((line) => line['requestId'] === requestId);
  await expect.poll(() => lines().length).toBe(4);
  expect(JSON.stringify(proxy.log)).not.toContain(TOKEN);
  expect((await send(`${proxy.url}/metrics`)).body.toString()).not.toContain(TOKEN);
});

test('a document is logged as one call, which reads the record', async () => {
  const requestId = 'logged-document';
  await ask({}, { 'x-request-id': requestId });
  const lines = () => proxy.log.filter((line) => line['requestId'] === requestId);
  await expect
    .poll(lines)
    .toMatchObject([{ via: 'document', model: 'sale.order', method: 'read', outcome: 'ok' }]);
});

test('where several databases are behind one address, a session of the right one is opened', async () => {
  odoo.page = ({ path, cookie }) => {
    if (path === '/web/login?db=prod')
      return { status: '302 FOUND', headers: { 'Set-Cookie': 'session_id=ofprod; HttpOnly; Path=/' } };
    return cookie === 'session_id=ofprod' ? servePdf('a.pdf') : { status: '404 NOT FOUND' };
  };
  expect((await ask()).body).toEqual(PDF);
  expect(odoo.pages.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
    '/my/orders/7',
    '/web/login',
    '/my/orders/7',
  ]);
});

test('a redirect to the page in a language is followed, and no other one', async () => {
  odoo.calls['res.lang.get_installed'] = [['fr_FR', 'French']];
  odoo.page = ({ path }) =>
    path.startsWith('/fr/my/orders/7?')
      ? servePdf('Devis.pdf')
      : {
          status: '303 SEE OTHER',
          headers: { Location: `https://elsewhere.example.com/fr/my/orders/7?x=1` },
        };
  const got = await ask({ lang: 'fr_FR' });
  expect(got.headers['content-disposition']).toContain('Devis.pdf');
  expect(odoo.pages[1]).toMatchObject({ cookie: 'frontend_lang=fr_FR' });
  expect(odoo.pages[1]!.path).toBe(`/fr${odoo.pages[0]!.path}`);
  for (const location of [
    '/my',
    '//elsewhere.example.com/my',
    '/web/login',
    '/my/orders/8',
    '/a/b/my/orders/7x',
  ]) {
    odoo.page = () => ({ status: '303 SEE OTHER', headers: { Location: location } });
    odoo.pages.length = 0;
    expect(readError(await ask())).toMatchObject({ data: { type: 'upstream_bad_response' } });
    for (const { path } of odoo.pages) expect(path).toMatch(/^\/(my\/orders\/7\?|web\/login\?db=prod$)/);
  }
});

test.each([
  'https://elsewhere.example.com/my/orders/7',
  '//elsewhere.example.com/x',
  '#',
  '/my/or ders',
  7,
  null,
])('an address of a page that is no path is not asked: %j', async (url) => {
  odoo.calls['sale.order.get_portal_url'] = url;
  expect(readError(await ask())).toMatchObject({ data: { type: 'invalid_params', path: 'report' } });
  expect(odoo.pages).toEqual([]);
});

test('the PDF that Odoo keeps of an invoice comes first', async () => {
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, INVOICES)];
  odoo.calls['account.move.read'] = [{ id: 7, invoice_pdf_report_id: [31, 'INV_7.pdf'] }];
  odoo.calls['ir.attachment.read'] = [
    { id: 31, name: 'INV_7.pdf', res_model: 'account.move', res_id: 7, datas: PDF.toString('base64') },
  ];
  const got = await ask({ model_id: 'account.move' });
  expect(got.body).toEqual(PDF);
  expect(got.headers['content-disposition']).toBe('attachment; filename="INV_7.pdf"');
  expect(listAsked()).not.toContain('account.move.get_portal_url');
  expect(odoo.asked.find(({ name }) => name === 'account.move.read')!.keyword.fields).toEqual([
    'display_name',
    'invoice_pdf_report_id',
  ]);
});

test('an invoice of a version without such a PDF comes from its page', async () => {
  odoo.calls['account.move.fields_get'] = { display_name: { type: 'char' } };
  odoo.calls['account.move.read'] = [{ id: 7, display_name: 'INV/7' }];
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, INVOICES)];
  expect((await ask({ model_id: 'account.move' })).body).toEqual(PDF);
  expect(odoo.pages[0]!.path).toMatch(/^\/my\/invoices\/7\?/);
});

test.each([
  ['account.move', 7, true],
  ['account.move', 8, false],
  ['hr.employee', 7, false],
  [false, 0, false],
])('the scan of a bill is its main attachment, if that is a file of the bill: %s %s', async (...row) => {
  const [res_model, res_id, isGiven] = row;
  const report = 'account.action_account_original_vendor_bill';
  const kept = { attachment: "'original_vendor_bill.pdf'", attachment_use: true };
  odoo.calls['ir.actions.report.search_read'] = [
    describeReport(1, INVOICES),
    describeReport(2, report, kept),
  ];
  odoo.calls['account.move.read'] = ({ args }: { args: readonly unknown[] }) =>
    args.length > 1
      ? [{ id: 7, message_main_attachment_id: [44, 'scan.pdf'] }]
      : [{ id: 7, invoice_pdf_report_id: false }];
  const file = { name: 'scan.pdf', res_model, res_id, datas: PDF.toString('base64') };
  odoo.calls['ir.attachment.read'] = [{ id: 44, ...file }];
  const got = await ask({ model_id: 'account.move', report });
  expect(got.headers['content-disposition']).toBe(isGiven ? 'attachment; filename="scan.pdf"' : undefined);
});

test('a PDF that a report keeps is found by the name that the report gives it', async () => {
  const kept = { attachment: "'Label-' + object.ref + '.pdf'", attachment_use: true };
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'my.label', kept)];
  odoo.calls['res.partner.read'] = ({ args }: { args: readonly unknown[] }) => [
    { id: 7, display_name: 'Azure', ...(args.length > 1 ? { ref: 'A-7' } : {}) },
  ];
  odoo.calls['ir.attachment.search_read'] = [{ id: 5 }];
  const file = { name: 'Label-A-7.pdf', res_model: 'res.partner', res_id: 7 };
  odoo.calls['ir.attachment.read'] = [{ id: 5, ...file, datas: PDF.toString('base64') }];
  expect((await ask({ model_id: 'res.partner' })).body).toEqual(PDF);
  expect(odoo.asked.find(({ name }) => name === 'ir.attachment.search_read')!.keyword.domain).toEqual([
    ['name', '=', 'Label-A-7.pdf'],
    ['res_model', '=', 'res.partner'],
    ['res_id', '=', 7],
  ]);
});

test('from 19.3 on, the content of an attachment is in another field', async () => {
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, INVOICES)];
  odoo.calls['account.move.read'] = [{ id: 7, invoice_pdf_report_id: [31, 'INV_7.pdf'] }];
  odoo.calls['ir.attachment.read'] = ({ args }: { args: readonly [unknown, readonly string[]] }) =>
    args[1].includes('datas')
      ? new Fault('builtins.ValueError', "Invalid field 'datas' on model 'ir.attachment'")
      : [{ id: 31, name: 'INV_7.pdf', res_model: 'account.move', res_id: 7, raw: PDF.toString('base64') }];
  expect((await ask({ model_id: 'account.move' })).body).toEqual(PDF);
});

/** What Odoo of a version has for an email template. */
function addTemplate(isList: boolean, reportIds: readonly number[] = [1]): void {
  const field = isList ? 'report_template_ids' : 'report_template';
  const value = isList ? reportIds : [reportIds[0], 'Report'];
  odoo.calls['mail.template.fields_get'] = { [field]: { type: 'many2many' } };
  odoo.calls['mail.template.search_read'] = [{ id: 9, [field]: value }];
}

test('up to 16, an email template gives the PDF without writing anything', async () => {
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'my.label')];
  addTemplate(false);
  const attachments = [
    ['Label.pdf', PDF.toString('base64')],
    ['edi.xml', 'PHhtbC8+'],
  ];
  odoo.calls['mail.template.generate_email'] = { subject: 'a "attachments": [["x"', attachments };
  const got = await ask({ model_id: 'res.partner' });
  expect(got.body).toEqual(PDF);
  expect(got.headers['content-disposition']).toBe('attachment; filename="Label.pdf"');
  expect(listAsked().at(-1)).toBe('mail.template.generate_email');
});

test.each([
  ['17 and 18', [[6, 0, [31, 30]]]],
  ['19', [[4, 31, { id: 31 }]]],
])(
  'from 17 on, the file that the window for a message makes is removed again: %s',
  async (_version, commands) => {
    odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'my.label')];
    addTemplate(true);
    odoo.calls['mail.compose.message.onchange'] = { value: { attachment_ids: commands } };
    odoo.calls['ir.attachment.read'] = [
      { id: 31, name: 'Label', res_model: 'mail.compose.message', res_id: 0, datas: PDF.toString('base64') },
    ];
    odoo.calls['ir.attachment.unlink'] = true;
    const got = await ask({ model_id: 'res.partner' });
    expect(got.body).toEqual(PDF);
    expect(got.headers['content-disposition']).toBe('attachment; filename="Label.pdf"');
    expect(odoo.asked.at(-1)).toMatchObject({ name: 'ir.attachment.unlink', args: [[31]] });
  },
);

test('the file is removed again if it is no PDF, as after a wkhtmltopdf that failed', async () => {
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'my.label')];
  addTemplate(true);
  odoo.calls['mail.compose.message.onchange'] = { value: { attachment_ids: [[4, 31]] } };
  odoo.calls['ir.attachment.read'] = [
    { id: 31, name: 'Label.pdf', res_model: 'mail.compose.message', res_id: 0, datas: '' },
  ];
  odoo.calls['ir.attachment.unlink'] = true;
  const got = await ask({ model_id: 'res.partner' });
  expect(readError(got)).toMatchObject({ data: { type: 'upstream_bad_response' } });
  expect(odoo.asked.at(-1)).toMatchObject({ name: 'ir.attachment.unlink', args: [[31]] });
});

test('a file of the template itself is not removed', async () => {
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'my.label')];
  addTemplate(true);
  odoo.calls['mail.compose.message.onchange'] = { value: { attachment_ids: [[4, 31]] } };
  odoo.calls['ir.attachment.read'] = [
    { id: 31, name: 'Terms.pdf', res_model: 'mail.template', res_id: 9, datas: PDF.toString('base64') },
  ];
  await ask({ model_id: 'res.partner' });
  expect(listAsked()).not.toContain('ir.attachment.unlink');
});

test('a template with several reports is not used, since each of them would be printed', async () => {
  odoo.calls['ir.actions.report.search_read'] = [
    describeReport(1, 'my.label'),
    describeReport(2, 'my.other'),
  ];
  addTemplate(true, [1, 2]);
  const error = readError(await ask({ model_id: 'res.partner' }));
  expect(error).toMatchObject({ data: { type: 'invalid_params', path: 'report' } });
  expect(error.message).toContain('add an email template for `res.partner`');
  expect(listAsked()).not.toContain('mail.compose.message.onchange');
});

test('where no way exists, the error names the reports that can be had', async () => {
  odoo.calls['ir.actions.report.search_read'] = [
    describeReport(1, ORDERS),
    describeReport(2, 'my.label'),
    describeReport(3, 'my.pro_forma'),
  ];
  addTemplate(true, [3]);
  const error = readError(await ask({ report: 'my.label' }));
  expect(error.message).toContain(`Reports that can be had: \`${ORDERS}\`, \`my.pro_forma\`.`);
});

test('a page that fails is followed by a template, whose error tells why', async () => {
  odoo.page = () => ({ status: '500 INTERNAL SERVER ERROR', body: '<html>Traceback</html>' });
  addTemplate(false);
  odoo.calls['mail.template.generate_email'] = new Fault(
    'odoo.exceptions.UserError',
    'Unable to find Wkhtmltopdf on this system.',
  );
  const got = await ask();
  expect(got.status).toBe(200);
  expect(readError(got)).toMatchObject({
    message: 'Unable to find Wkhtmltopdf on this system.',
    data: { type: 'user_error' },
  });
});

test('a report that fails says where its cause is', async () => {
  odoo.page = () => ({ status: '500 INTERNAL SERVER ERROR', body: '<html>Traceback</html>' });
  const got = await ask();
  expect(got.status).toBe(502);
  expect(readError(got).message).toContain('the log of the server has the cause');
  expect(got.body.toString()).not.toContain('Traceback');
});

test('a report that hangs ends at the time limit, and frees its place in the queue', async () => {
  odoo.page = () => null;
  const got = await ask({}, { 'x-request-timeout': '1' });
  expect(got.status).toBe(504);
  expect(readError(got)).toMatchObject({ data: { type: 'upstream_timeout', retryable: true } });
  expect(await readInFlight(proxy.url)).toBe(0);
  odoo.page = () => servePdf('a.pdf');
  expect((await ask()).status).toBe(200);
});

test('a page that is no PDF is not passed on, whatever its type', async () => {
  odoo.page = () => ({ ...servePdf('a.pdf'), body: '<script>alert(1)</script>' });
  const got = await ask();
  expect(got.status).toBe(502);
  expect(got.body.toString()).not.toContain('script');
});

test('a PDF that breaks off never looks whole', async () => {
  odoo.page = (_page, socket) => {
    socket.end(`HTTP/1.0 200 OK\r\nContent-Length: 100000\r\nContent-Type: application/pdf\r\n\r\n${PDF}`);
    return null;
  };
  await expect(ask()).rejects.toThrow();
});

test('the order that was only sent is printed by a template: its page has another report in 19', async () => {
  odoo.calls['purchase.order.read'] = [{ id: 7, state: 'sent' }];
  odoo.calls['ir.actions.report.search_read'] = [describeReport(1, 'purchase.action_report_purchase_order')];
  addTemplate(false);
  odoo.calls['mail.template.generate_email'] = { attachments: [['PO.pdf', PDF.toString('base64')]] };
  expect((await ask({ model_id: 'purchase.order' })).body).toEqual(PDF);
  expect(odoo.pages).toEqual([]);
});

test('a user of Odoo who may not read the record gets its error, and nothing is printed', async () => {
  odoo.calls['sale.order.read'] = new Fault('odoo.exceptions.AccessError', 'You are not allowed.');
  const got = await ask();
  expect(readError(got)).toMatchObject({ message: 'You are not allowed.', data: { type: 'access_error' } });
  expect(listAsked()).toEqual(['sale.order.read']);
  odoo.calls['sale.order.read'] = [];
  expect(readError(await ask())).toMatchObject({ data: { type: 'record_missing' } });
});

test('a policy that is changed while Odoo is asked holds for what follows', async () => {
  const policy = { origins: [odoo.url], models: { 'sale.order': ['read'] }, data: ['documents' as const] };
  const {
    key,
    record: { id, version },
  } = await proxy.app.keys.create({ name: 'ends', policy });
  odoo.calls['sale.order.get_portal_url'] = async (_call: unknown, socket: Socket) => {
    await proxy.app.keys.update(id, version, { policy: { ...policy, data: ['export'] } });
    answerLikeOdoo(socket, printResult(JSON.stringify('/my/orders/7')));
    return HANDLED;
  };
  const got = await ask({}, {}, key);
  expect(readError(got)).toMatchObject({ data: { type: 'policy_denied', rule: 'data' } });
  expect(odoo.pages).toEqual([]);
});

test.each([
  [{ record: 7, records: [7] }, 'records'],
  [{ record: null }, 'record'],
  [{ record: '7' }, 'record'],
  [{ record: 0 }, 'record'],
  [{ record: null, records: [] }, 'records'],
  [{ record: null, records: [1, 'x'] }, 'records[1]'],
  [{ record: null, records: [1, 1] }, 'records'],
  [{ record: null, records: Array.from({ length: 51 }, (_, index) => index + 1) }, 'records'],
  [{ record: null, records: 7 }, 'records'],
  [{ report: 7 }, 'report'],
  [{ report: 'x'.repeat(257) }, 'report'],
  [{ lang: 'french' }, 'lang'],
  [{ lang: 'fr_FR; a=b' }, 'lang'],
  [{ field: 'datas' }, 'field'],
  [{ context: {} }, 'context'],
  [{ model_id: null }, 'model_id'],
])('refuses %j and names the member', async (changes, path) => {
  const got = await ask(changes);
  expect(got.status).toBe(400);
  expect(JSON.parse(got.body.toString())).toMatchObject({ id: 'd', error: { data: { path } } });
  expect(odoo.asked).toEqual([]);
});

test('an unknown report and a language that is not installed are refused with those that exist', async () => {
  odoo.calls['res.lang.get_installed'] = [['en_US', 'English']];
  expect(readError(await ask({ lang: 'fr_FR' }))).toMatchObject({
    message: '`lang` must be a language that is installed in Odoo: en_US.',
    data: { type: 'invalid_params', path: 'lang' },
  });
  expect(readError(await ask({ report: 'sale.action_report_saleordr' }))).toMatchObject({
    message: `\`report\` is unknown for \`sale.order\`. Its reports are \`${ORDERS}\`.`,
    data: { type: 'invalid_params', path: 'report' },
  });
  odoo.calls['ir.actions.report.search_read'] = [];
  expect(readError(await ask())).toMatchObject({ data: { type: 'invalid_params', path: 'model_id' } });
});

test('a name that several reports have is refused with their xmlids', async () => {
  const named = { name: 'Label' };
  odoo.calls['ir.actions.report.search_read'] = [
    describeReport(1, 'a.b', named),
    describeReport(2, 'c.d', named),
  ];
  expect(readError(await ask({ report: 'Label' })).message).toContain('send one of `a.b`, `c.d`');
});
