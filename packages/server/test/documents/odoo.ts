/** An Odoo server whose answers to calls and pages are defined by a test. It keeps what it was asked. */
import type { Socket } from 'node:net';
import {
  answerLikeOdoo,
  printResult,
  type ScriptedUpstream,
  startUpstream,
  type UpstreamRequest,
} from '../scripted-upstream.ts';

/** A call of `execute_kw`. */
export interface OdooCall {
  readonly name: string;
  readonly args: readonly unknown[];
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of any depth
  readonly keyword: any;
}

export interface OdooPage {
  readonly path: string;
  readonly cookie: string | undefined;
  readonly database: string | undefined;
}

/** The result of a call; an `Error` with the class of a fault as its name. A function answers by itself. */
type Answer = unknown | ((call: OdooCall, socket: Socket) => unknown);

export interface PageAnswer {
  status: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface FakeOdoo {
  url: string;
  upstream: ScriptedUpstream;
  /** Answers by `model.method`. */
  calls: Record<string, Answer>;
  page: (page: OdooPage, socket: Socket) => PageAnswer | null;
  readonly asked: OdooCall[];
  readonly pages: OdooPage[];
}

export async function startOdoo(): Promise<FakeOdoo> {
  const upstream = await startUpstream((socket, request) => {
    if (request.head.startsWith('GET ')) answerPage(odoo, socket, request);
    else void answerCall(odoo, socket, request);
  });
  const odoo: FakeOdoo = {
    url: upstream.url,
    upstream,
    calls: {},
    page: () => ({ status: '404 NOT FOUND', body: '<html></html>' }),
    asked: [],
    pages: [],
  };
  return odoo;
}

async function answerCall(odoo: FakeOdoo, socket: Socket, { body }: UpstreamRequest): Promise<void> {
  const [, , , model, method, args, keyword] = JSON.parse(body.toString()).params.args;
  const call = { name: `${model}.${method}`, args, keyword: keyword ?? {} };
  odoo.asked.push(call);
  const found = odoo.calls[call.name];
  const answer = typeof found === 'function' ? await found(call, socket) : found;
  if (answer === HANDLED) return;
  if (answer === undefined)
    answerLikeOdoo(socket, printFault(new Fault('builtins.AttributeError', 'no method')));
  else if (answer instanceof Fault) answerLikeOdoo(socket, printFault(answer));
  else answerLikeOdoo(socket, printResult(JSON.stringify(answer)));
}

/** The answer of a function that writes to the socket itself. */
export const HANDLED = Symbol('handled');

export class Fault {
  readonly name: string;
  readonly message: string;

  constructor(name: string, message: string) {
    this.name = name;
    this.message = message;
  }
}

function printFault({ name, message }: Fault): string {
  const data = { name, message, arguments: [message], context: {} };
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    error: { code: 200, message: 'Odoo Server Error', data },
  });
}

function answerPage(odoo: FakeOdoo, socket: Socket, { head }: UpstreamRequest): void {
  const [, path = ''] = head.split(' ', 2);
  const read = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1];
  const page = { path, cookie: read('cookie'), database: read('x-odoo-database') };
  odoo.pages.push(page);
  const answer = odoo.page(page, socket);
  if (answer === null) return;
  const { status, headers = {}, body = '' } = answer;
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'Content-Length': String(bytes.length), ...headers, Connection: 'close' });
  socket.write(`HTTP/1.0 ${status}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
  socket.end(bytes);
}

export const PDF = Buffer.from('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n');

/** A page with a PDF, as the portal of Odoo sends it. */
export function servePdf(name: string, body: Buffer = PDF): PageAnswer {
  return {
    status: '200 OK',
    headers: {
      'Content-Type': 'application/pdf',
      'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
      'Set-Cookie': 'session_id=anonymous; Path=/',
    },
    body,
  };
}

/** A row of `ir.actions.report`. */
export function describeReport(id: number, xmlid: string, changes: object = {}): object {
  return {
    id,
    name: `Report ${id}`,
    xml_id: xmlid,
    report_name: `${xmlid}_template`,
    attachment: false,
    attachment_use: false,
    binding_model_id: [1, 'Model'],
    ...changes,
  };
}
