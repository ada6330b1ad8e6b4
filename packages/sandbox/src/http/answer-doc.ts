/**
 * Answers /doc-bearer: the index and the page of each model as JSON, with Odoo's two kinds of ETag
 * (docs/odoo-facts.md#documentation-of-models-doc-bearer).
 */
import { createHash } from 'node:crypto';
import { describeIndex } from '../doc/describe-index.ts';
import { describeModel } from '../doc/describe-model.ts';
import { accessError } from '../orm/fault.ts';
import type { Environment } from '../orm/model.ts';
import { checkBearer } from '../rpc/check-bearer.ts';
import { httpFault } from '../rpc/http-fault.ts';
import type { Instance } from '../rpc/instance.ts';
import { answerBearer } from './answer-json2.ts';
import type { HttpRequest } from './http-request.ts';
import { replyNotFound } from './pages.ts';
import { contentLength, nosniff, type Reply, replyJson } from './reply.ts';

export async function answerDoc(instance: Instance, request: HttpRequest, path: string): Promise<Reply> {
  const page = /^\/doc-bearer\/([^/]+)\.json$/.exec(path)?.[1];
  if (page === undefined) return replyNotFound(instance.personality.wire);
  return answerBearer(instance, request, () => {
    const environment = instance.environment(checkBearer(instance, request.authorization));
    if (!environment.hasGroup('api_doc.group_allow_doc'))
      throw accessError('This page is only accessible to Technical Documentation users.');
    return page === 'index' ? replyIndex(environment, request) : replyModel(environment, page, request);
  });
}

function replyIndex(environment: Environment, request: HttpRequest): Reply {
  const tag = hashVersion(environment, 'index');
  if (isKnown(tag, request)) return notModified;
  const { body } = replyJson(describeIndex(environment), []);
  // Odoo caches the index as an attachment, so it has the headers of a file, and Date twice.
  return {
    status: 200,
    headers: [
      ['Content-Disposition', `inline; filename=odoo-doc-index-${environment.uid}-${tag}.json`],
      ['Content-Type', 'application/json; charset=utf-8'],
      contentLength,
      ['Last-Modified', startedAt],
      ['Cache-Control', 'no-cache, private'],
      ['ETag', `"${tag}"`],
      ['Date', new Date().toUTCString()],
      nosniff,
      ['Content-Security-Policy', "default-src 'none'"],
      ['Content-Language', 'en-US'],
    ],
    body,
  };
}

function replyModel(environment: Environment, name: string, request: HttpRequest): Reply {
  const model = environment.models.get(name);
  if (!model) {
    throw httpFault(
      'NotFound',
      'The requested URL was not found on the server. If you entered the URL manually please check your spelling and try again.',
    );
  }
  // This ETag identifies the registry, not the page: all models share it. Odoo prints it without quotes
  // (docs/odoo-facts.md#doc-etag).
  const tag = hashVersion(environment, 'model');
  if (isKnown(tag, request)) return notModified;
  return replyJson(describeModel(environment, model), [
    ['ETag', tag],
    ['Cache-Control', 'no-cache, private'],
    ['Content-Language', 'en-US'],
    nosniff,
  ]);
}

const startedAt = new Date().toUTCString();
const notModified: Reply = { status: 304, headers: [nosniff], body: '' };

function hashVersion({ personality, user }: Environment, kind: string): string {
  const parts = [kind, personality.version, user['groups'], user['lang']];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function isKnown(tag: string, { ifNoneMatch = '' }: HttpRequest): boolean {
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\/|"/g, '') === tag);
}
