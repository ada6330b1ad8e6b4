/** Routes a request to its handler. Knows the paths and their content types; callService leads to the ORM. */
import { printJson } from '../json/print-json.ts';
import { accessDenied, Fault } from '../orm/fault.ts';
import { callService, describeVersion } from '../rpc/call-service.ts';
import type { Instance } from '../rpc/instance.ts';
import type { Wire } from '../versions/personality.ts';
import { answerDoc } from './answer-doc.ts';
import { answerJson2 } from './answer-json2.ts';
import { type JsonrpcRequest, readRequest, replyFault, replyResult } from './answer-jsonrpc.ts';
import { answerPortal } from './answer-portal.ts';
import type { HttpRequest } from './http-request.ts';
import { replyBadRequest, replyWrongTypeOrMethod, routeNotFound } from './old-pages.ts';
import { bakeSession, replyNotFound, replyRedirect, replyWrongContentType } from './pages.ts';
import { contentLength, nosniff, type Reply, replyJson } from './reply.ts';

export async function answerRequest(instance: Instance, request: HttpRequest): Promise<Reply> {
  const { wire } = instance.personality;
  const [pathname = '/', query = ''] = request.url.split('?');
  const path = pathname.replace(/(?<=.)\/$/, '');
  const onlyNosniff = wire.nosniff ? [nosniff] : [];
  const route = nameRoute(path);
  instance.countRoute(route);
  switch (route) {
    case '/jsonrpc':
      if (!wire.jsonrpc) break;
      return answerRpc(request, instance, (call) => callService(instance, call.params, request.address));
    case '/web/webclient/version_info':
      return answerRpc(request, instance, async () => describeVersion(instance), [bakeSession(wire)]);
    case '/web/database/list':
      return answerRpc(request, instance, () => Promise.reject(accessDenied()));
    case '/web/session/get_session_info':
    case '/web/dataset/call_kw':
      return replyFault(null, sessionExpired(), wire);
    case '/web/health':
      if (!wire.health) break;
      return replyHealth(instance, query.includes('db_server_status=1'));
    case '/web/version':
    case '/json/version': {
      if (wire.versionRoutes) {
        const { version } = instance.personality;
        const shown = { version_info: [version, 0, 0, 'final', 0, ''], version: `${version}.0` };
        return replyJson(shown, [bakeSession(wire), ...onlyNosniff]);
      }
      break;
    }
    case '/json/2':
      if (!wire.json2) break;
      return answerJson2(instance, request, path);
    case '/doc-bearer':
      if (!wire.json2) break;
      return answerDoc(instance, request, path);
    case '/my/orders':
      return answerPortal(instance, request, path, query);
    case '/doc':
      if (!wire.json2) break;
      return replyRedirect(locateLogin(path, query), []);
    case '/':
      return replyRedirect(wire.home, [bakeSession(wire), ...onlyNosniff]);
  }
  if (path.startsWith('/json/') && wire.jsonRedirects) {
    return replyRedirect(locateLogin(path, query), []);
  }
  if (wire.oldPages && request.method === 'POST' && isJson(request)) return replyUnknownRoute(request, wire);
  return replyNotFound(wire);
}

/** The answer of 14 and 15 to a call with an unknown path. */
function replyUnknownRoute({ body }: HttpRequest, wire: Wire): Reply {
  const call = readRequest(body ?? { text: Buffer.alloc(0), binaries: [] }, wire);
  return 'status' in call ? call : replyFault(call.id, routeNotFound(), wire, [bakeSession(wire)], 404);
}

function isJson({ contentType }: HttpRequest): boolean {
  const type = contentType?.split(';')[0]?.trim().toLowerCase();
  return type === 'application/json' || type === 'application/json-rpc';
}

function locateLogin(path: string, query: string): string {
  return `/web/login?redirect=${encodeURIComponent(`${path}?${query}`)}`;
}

async function answerRpc(
  request: HttpRequest,
  instance: Instance,
  run: (call: JsonrpcRequest) => Promise<Awaited<ReturnType<typeof callService>>>,
  cookies: Reply['headers'] = [],
): Promise<Reply> {
  const { wire } = instance.personality;
  if (!isJson(request)) {
    if (wire.oldPages) return replyWrongTypeOrMethod(request.method);
    return replyWrongContentType(wire, request.url.split('?')[0] ?? '', request.method);
  }
  if (!request.body) return wire.oldPages ? replyBadRequest() : replyFault(null, clientDisconnected(), wire);
  const call = readRequest(request.body, wire);
  if ('status' in call) return call;
  try {
    return replyResult(call.id, await run(call), wire, cookies);
  } catch (error) {
    return replyFault(call.id, error, wire);
  }
}

function replyHealth({ personality: { wire } }: Instance, isDatabaseAsked: boolean): Reply {
  const status = {
    status: 'pass',
    ...(isDatabaseAsked && wire.healthShowsDatabase ? { db_server_status: true } : {}),
  };
  return {
    status: 200,
    headers: [
      ['Content-Type', 'application/json'],
      ['Cache-Control', 'no-store'],
      contentLength,
      ...(wire.nosniff ? [nosniff] : []),
    ],
    body: printJson(status),
  };
}

const sessionExpired = () => new Fault('odoo.http.SessionExpiredException', 'Session expired');

const clientDisconnected = () =>
  new Fault(
    'werkzeug.exceptions.ClientDisconnected',
    '400 Bad Request: The browser (or proxy) sent a request that this server could not understand.',
    [],
  );

/** The name of the route in the counters. All unknown paths are `other`. */
function nameRoute(path: string): string {
  const isInside = (route: string) => path === route || path.startsWith(`${route}/`);
  return whole.find((route) => route === path) ?? prefixes.find(isInside) ?? 'other';
}

const whole = [
  '/',
  '/jsonrpc',
  '/json/version',
  '/doc',
  '/web/health',
  '/web/version',
  '/web/webclient/version_info',
  '/web/database/list',
  '/web/session/get_session_info',
];
const prefixes = ['/json/2', '/doc-bearer', '/web/dataset/call_kw', '/my/orders'];
