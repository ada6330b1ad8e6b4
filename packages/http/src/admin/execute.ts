/**
 * Runs an execute call, or prints a document, for an administrator: in the name of a client key, or of the proxy
 * itself, whose calls no policy restricts. The answer is that of `/api/erp/execute` or `/api/erp/document`.
 */

import type { Actor, Admin } from '@erp-proxy/admin';
import { type AdminError, createAdminError, toAdminError } from '@erp-proxy/admin/errors';
import { type Client, type Keys, PROXY_CLIENT } from '@erp-proxy/control/keys';
import type { RunRequest } from '@erp-proxy/gateway';
import { type CallRunner, type Denial, type MadeCalls, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AdminExchange } from '../admin-exchange.ts';

export interface ExecuteDeps {
  keys: Pick<Keys, 'findClient'>;
  run: RunRequest;
}

/** The parsed body. `call`: the original bytes of the call, or of the body of another route. */
interface ExecuteInput {
  call: Uint8Array;
  key_id?: string;
  values?: 'normalized';
}

/** Another route than `/api/erp/execute`, which makes calls while it answers. */
export interface OtherRoute {
  made: MadeCalls;
  answer: (runner: CallRunner) => Promise<Denial | null>;
}

/** Throws an AdminError if there is no such key. */
export type Execute = (
  input: ExecuteInput,
  by: {
    actor: Actor;
    /** The admin service for this actor. */
    admin: Pick<Admin, 'getKey'>;
    request: FastifyRequest;
    reply: FastifyReply;
  },
  other?: OtherRoute,
) => Promise<void>;

export function createExecute({ keys, run }: ExecuteDeps): Execute {
  return async ({ call, key_id, values }, { actor, admin, request, reply }, other) => {
    // Keys out of reach are unknown, whatever their state.
    if (key_id !== undefined && actor.instances !== null) await admin.getKey(key_id);
    const client = key_id === undefined ? PROXY_CLIENT : await findClient(key_id, keys);
    reply.hijack();
    const exchange = new AdminExchange(request.raw, reply.raw, {
      requestId: String(actor.requestId),
      call,
      areValuesNormalized: values === 'normalized',
    });
    const source = { by: 'administrator' as const, client, actor };
    if (other === undefined) await run({ source, exchange, dialect: OWN_DIALECT });
    else
      await run({
        source: { ...source, ...other.made },
        exchange,
        dialect: OWN_DIALECT,
        answer: other.answer,
      });
  };
}

async function findClient(id: string, keys: ExecuteDeps['keys']): Promise<Client> {
  try {
    const found = await keys.findClient(id);
    if (!('refused' in found)) return found;
    throw explainRefused(id, found.refused);
  } catch (error) {
    throw toAdminError(error);
  }
}

function explainRefused(id: string, refused: string): AdminError {
  const name = JSON.stringify(id);
  return refused === 'unknown'
    ? createAdminError(404, `There is no key ${name}.`)
    : createAdminError(409, `The key ${name} is ${refused}: make the call as another key, or as none.`);
}
