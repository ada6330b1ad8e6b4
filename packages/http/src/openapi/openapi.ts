/**
 * `GET /openapi.json`: the OpenAPI document of all routes, generated from the tables of the routes, or a document of
 * some models of an instance.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RunRequest } from '@erp-proxy/gateway';
import { Denial, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { FastifyInstance } from 'fastify';
import { BodyBudget } from '../body.ts';
import { NodeExchange } from '../node-exchange.ts';
import { OverloadAnswer } from '../overload-answer.ts';
import { RoutedRequest } from '../routed-request.ts';
import { renderNamedSchemas } from '../schema-registry.ts';
import type { LoadShedder } from '../shedding/load-shedder.ts';
import { ADMIN_SECURITY, describeAdminPaths } from './admin.ts';
import { CALL_SECURITY, describeCallPaths } from './calls.ts';
import { renderModelsOpenapi } from './models.ts';
import { exchangeModels, MODELS_MAX, type ModelsQuestion } from './models-exchange.ts';

export interface OpenapiRouteDeps {
  /** Version of this program. */
  version: string;
  /** The setting `http.publicUrl`. */
  publicUrl: string | null;
  loadShedder: LoadShedder;
  /** Runs the calls that describe models. */
  run: RunRequest;
}

/** A budget of zero, because the request has a question in place of a body. */
const NO_BODIES = new BodyBudget(0);

export function addOpenapiRoute(
  app: FastifyInstance,
  { version, publicUrl, loadShedder, run }: OpenapiRouteDeps,
): void {
  const overloadAnswer = new OverloadAnswer(OWN_DIALECT);
  app.get('/openapi.json', async ({ raw: request, ip, query }, reply) => {
    const { base, bytes } = await renderOnce(version, publicUrl);
    const given = query as Record<string, unknown>;
    if (given['instance'] === undefined && given['models'] === undefined) {
      return reply.header('content-type', 'application/json').send(bytes);
    }
    reply.hijack();
    const response = reply.raw;
    const question = readQuestion(given);
    const admit = () => {
      const exchange = new NodeExchange(request, response, {
        address: ip,
        bodyBytesMax: 0,
        bodyBudget: NO_BODIES,
      });
      const render = (found: Parameters<typeof renderModelsOpenapi>[2]) =>
        renderModelsOpenapi(base, question as ModelsQuestion, found);
      void run({
        source: { by: 'client' },
        exchange: exchangeModels(exchange, question, render),
        dialect: OWN_DIALECT,
      });
    };
    const refuse = () => overloadAnswer.send(request, response);
    loadShedder.submit(new RoutedRequest(response, { admit, refuse }));
    return reply;
  });
}

interface Rendered {
  base: Awaited<ReturnType<typeof renderOpenapi>>;
  bytes: Buffer;
}

const RENDERED = new Map<string, Promise<Rendered>>();

/** Cached, because rendering takes tens of milliseconds, and tests start many proxies in one process. */
function renderOnce(version: string, publicUrl: string | null): Promise<Rendered> {
  const name = `${version} ${publicUrl}`;
  const known = RENDERED.get(name);
  if (known !== undefined) return known;
  const rendering = render(version, publicUrl);
  RENDERED.set(name, rendering);
  rendering.catch(() => RENDERED.delete(name));
  return rendering;
}

async function render(version: string, publicUrl: string | null): Promise<Rendered> {
  const base = await renderOpenapi(version, publicUrl);
  await nextTurn();
  return { base, bytes: Buffer.from(JSON.stringify(base)) };
}

/** Reads instance and models of the query. The pipeline checks the names. */
function readQuestion({ instance, models }: Record<string, unknown>): ModelsQuestion | Denial {
  if (typeof instance !== 'string' || instance === '') {
    return invalid('instance', 'Name one stored instance, e.g. ?instance=prod&models=res.partner.');
  }
  const names = typeof models === 'string' ? models.split(',').map((name) => name.trim()) : [];
  if (names.length === 0 || names.includes('') || names.some((name) => name.includes('*'))) {
    return invalid(
      'models',
      'Name the models without patterns, e.g. models=res.partner,sale.order. The command `erp-proxy types` takes patterns.',
    );
  }
  if (names.length > MODELS_MAX) return invalid('models', `Name at most ${MODELS_MAX} models at once.`);
  return { instance, models: [...new Set(names)] };
}

function invalid(path: string, message: string): Denial {
  return new Denial('invalid_request', message, { path });
}

/**
 * `version` is the version of this program, and `publicUrl` the setting. Pauses between the parts, which together would
 * block the event loop for too long. The longest part, the named schemas, is rendered by zod in one piece.
 */
export async function renderOpenapi(version: string, publicUrl: string | null = null) {
  const schemas = renderNamedSchemas();
  await nextTurn();
  const callPaths = describeCallPaths();
  await nextTurn();
  const adminPaths = await describeAdminPaths();
  return {
    openapi: '3.1.1',
    info: {
      title: 'erp-proxy',
      version,
      description: 'One HTTP endpoint in front of all Odoo servers.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Without `http.publicUrl`, the address is relative to that of the document: the proxy does not know by which names
    // it is reached.
    servers: [
      { url: publicUrl?.replace(/\/+$/, '') ?? '/', description: 'The proxy that serves this document.' },
    ],
    tags: [
      { name: 'calls', description: 'Calls on Odoo servers.' },
      { name: 'jobs', description: 'Calls whose caller does not wait.' },
      { name: 'admin', description: 'Client keys, stored instances and the audit.' },
      {
        name: 'persons',
        description: 'The connections to Odoo and the applications of the person who asks.',
      },
      { name: 'process', description: 'Health, metrics and documentation of the proxy.' },
      { name: 'compatible', description: "For callers that use ODXProxy's wire format." },
    ],
    paths: { ...callPaths, ...adminPaths },
    components: {
      schemas,
      securitySchemes: { ...CALL_SECURITY, ...ADMIN_SECURITY },
    },
  };
}
