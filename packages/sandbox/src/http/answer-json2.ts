/**
 * Answers /json/2, and contains what /doc-bearer shares with it: database, bearer token, and errors with a status
 * (docs/odoo-facts.md#errors-of-json2, docs/odoo-facts.md#json2-check-order).
 */
import { readJson } from '../json/read-json.ts';
import type { Json } from '../json/value.ts';
import { callJson2 } from '../rpc/call-json2.ts';
import { checkBearer } from '../rpc/check-bearer.ts';
import { httpFault } from '../rpc/http-fault.ts';
import type { Instance } from '../rpc/instance.ts';
import { describeFault, toFault } from './describe-fault.ts';
import type { HttpRequest } from './http-request.ts';
import { replyNoDatabase, replyUnsupportedMedia } from './pages.ts';
import { nosniff, type Reply, replyJson } from './reply.ts';

export function answerJson2(instance: Instance, request: HttpRequest, path: string): Promise<Reply> {
  return answerBearer(instance, request, async () => {
    const parts = path.split('/').slice(3).map(decodePart);
    const [model, method] = parts;
    const isCall = parts.length === 2 && request.method === 'POST' && model && method;
    const type = request.contentType?.split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json' && request.hasLength) {
      const route = isCall ? '/json/2/<__model__>/<__method__>' : '/json/2/<path:subpath>';
      return replyUnsupportedMedia(['http'], route, 'json2', 'application/json');
    }
    if (!isCall) throw httpFault('NotFound', 'Did you mean POST /json/2/<model>/<method>?');
    const uid = checkBearer(instance, request.authorization);
    const result = await callJson2(instance, uid, model, method, readBodyJson(request));
    return replyJson(result ?? null, [nosniff]);
  });
}

// Like Werkzeug, keeps invalid escapes unchanged.
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Runs `run` on the database. A fault becomes an answer with its status. */
export async function answerBearer(
  instance: Instance,
  request: HttpRequest,
  run: () => Reply | Promise<Reply>,
): Promise<Reply> {
  if (!instance.servesDatabase(request.database)) return replyNoDatabase();
  try {
    return await run();
  } catch (error) {
    return replyFaultStatus(error, instance);
  }
}

// Without a Content-Length the body is ignored, even a chunked one (docs/odoo-facts.md#chunked-body).
function readBodyJson({ body, hasLength }: HttpRequest): Json {
  if (!hasLength) return null;
  if (!body) {
    throw httpFault(
      'ClientDisconnected',
      'The browser (or proxy) sent a request that this server could not understand.',
    );
  }
  try {
    return body.text.length > 0 ? readJson(body.text.toString('utf8'), body.binaries) : null;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw httpFault('BadRequest', `could not parse the body as json: ${reason}`);
  }
}

/** The status of each exception that Odoo defines. All other exceptions have 500, including RedirectWarning. */
const statuses: Readonly<Record<string, number>> = {
  'odoo.exceptions.AccessDenied': 403,
  'odoo.exceptions.AccessError': 403,
  'odoo.exceptions.MissingError': 404,
  'odoo.exceptions.UserError': 422,
  'odoo.exceptions.ValidationError': 422,
};

function replyFaultStatus(error: unknown, { personality: { wire } }: Instance): Reply {
  const fault = toFault(error);
  const isHttp = fault.name.startsWith('werkzeug.');
  const status = isHttp ? Number(fault.arguments[1]) : (statuses[fault.name] ?? 500);
  const reply = replyJson(describeFault(fault, wire), [], status);
  if (status !== 401) return reply;
  // Odoo sends a space after the scheme.
  return { ...reply, headers: [['WWW-Authenticate', 'Bearer '], ...reply.headers] };
}
