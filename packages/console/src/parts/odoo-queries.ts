/**
 * The calls by which forms read models, fields and names of records from Odoo. They are the administrator's own: no
 * policy restricts them.
 */
import type { ErpInstance, ExecuteAnswer } from '@erp-proxy/contract';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { sendRaw } from '../api/send.ts';
import { FIELD_ATTRIBUTES, type FieldInfo, type FieldTable } from './odoo-fields.ts';
import type { CallParts } from './print-call.ts';

/** The Odoo server of a form. */
export interface OdooServer {
  instance: { name: string } | ErpInstance;
  /** Distinguishes servers in keys of the cache, without a secret. */
  identity: string;
}

const STALE_MS = 300_000;
const MODELS_MAX = 30;
/** More models than an Odoo with all of its applications has. */
const ALL_MODELS_MAX = 5_000;
const NAMES_MAX = 20;

async function callOdoo<Result>(server: OdooServer, call: CallParts, signal: AbortSignal): Promise<Result> {
  const body = { call: { ...call, erp_instance: server.instance } };
  const response = await sendRaw({ method: 'POST', path: '/execute', body }, signal);
  const answer = (await response.json()) as ExecuteAnswer;
  if ('error' in answer) throw new Error(answer.error.message);
  return answer.result as Result;
}

/** Creates the query for a call. Without a server, nothing is sent. */
function ask<Result>(server: OdooServer | null, question: string, call: CallParts) {
  return queryOptions({
    queryKey: ['odoo', server?.identity, question, call],
    queryFn: ({ signal }) => {
      if (server === null) throw new Error('Choose a server first.');
      return callOdoo<Result>(server, call, signal);
    },
    enabled: server !== null,
    staleTime: STALE_MS,
    retry: false,
  });
}

/** Models whose technical name or label contains the text. */
export function readModels(server: OdooServer | null, text: string) {
  return ask<{ model: string; name: string }[]>(server, 'models', {
    model_id: 'ir.model',
    action: 'search_read',
    params: [text === '' ? [] : ['|', ['model', 'ilike', text], ['name', 'ilike', text]]],
    keyword: { fields: ['model', 'name'], limit: MODELS_MAX, order: 'model' },
  });
}

/** All models, for lists that are filtered in the browser. */
export function readAllModels(server: OdooServer | null) {
  return ask<{ model: string; name: string }[]>(server, 'all models', {
    model_id: 'ir.model',
    action: 'search_read',
    params: [[]],
    keyword: { fields: ['model', 'name'], limit: ALL_MODELS_MAX, order: 'model' },
  });
}

export function readFields(server: OdooServer | null, model: string) {
  const options = ask<FieldTable>(server, 'fields', {
    model_id: model,
    action: 'fields_get',
    params: [],
    keyword: { attributes: FIELD_ATTRIBUTES },
  });
  return { ...options, enabled: server !== null && model !== '' };
}

/** The fields of the model that a path leads to, and the field at its end, if there is one. */
export interface PathFields {
  /** The path up to its last dot: `partner_id.` for `partner_id.name`. */
  prefix: string;
  table: FieldTable;
  field: FieldInfo | undefined;
}

export function readPath(queryClient: QueryClient, server: OdooServer | null, model: string, path: string) {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  return queryOptions({
    queryKey: ['odoo', server?.identity, 'path', model, path],
    async queryFn(): Promise<PathFields> {
      let table = await queryClient.fetchQuery(readFields(server, model));
      for (const step of steps) {
        const relation = table[step]?.relation;
        if (relation === undefined) return { prefix: '', table: {}, field: undefined };
        table = await queryClient.fetchQuery(readFields(server, relation));
      }
      return { prefix: steps.map((step) => `${step}.`).join(''), table, field: table[last] };
    },
    enabled: server !== null && model !== '',
    staleTime: STALE_MS,
    retry: false,
    placeholderData: (previous) => previous,
  });
}

/** Records whose name contains the text, as pairs of id and name. */
export function searchNames(server: OdooServer | null, model: string, text: string) {
  return ask<[number, string][]>(server, 'names', {
    model_id: model,
    action: 'name_search',
    params: [text],
    keyword: { limit: NAMES_MAX },
  });
}

export function readNames(server: OdooServer | null, model: string, ids: number[]) {
  const options = ask<{ id: number; display_name: string }[]>(server, 'display_names', {
    model_id: model,
    action: 'search_read',
    params: [[['id', 'in', ids]]],
    keyword: { fields: ['display_name'], context: { active_test: false } },
  });
  return { ...options, enabled: server !== null && ids.length > 0 };
}
