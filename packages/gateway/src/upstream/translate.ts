/**
 * Chooses the protocol of a call, and builds its request. json2 is used only if its result is certain to be that of
 * `/jsonrpc`. Nothing is guessed.
 */

import { ABORTED } from '@erp-proxy/async/tasks';
import type { Fault } from '@erp-proxy/odoo/faults';
import { isApiKeyShaped } from '@erp-proxy/odoo/json2';
import { findModelSignature, findSignature, type Signature } from '@erp-proxy/odoo/signatures';
import { denyIds } from '../terms/caller-denials.ts';
import { Denial } from '../terms/denial.ts';
import type { MethodCall, Protocol, UpstreamCall } from '../terms/method-call.ts';
import type { Deadline } from '../terms/request-time.ts';
import type { Target } from '../terms/target.ts';
import { denyEnded, denyFailure } from '../terms/upstream-denials.ts';
import * as largeCalls from '../thread/large-calls.ts';
import type { Protocols, Servers, Unanswered } from './servers.ts';
import { adviseRedirect, denyStatus } from './upstream-status.ts';

export interface TranslateDeps {
  servers: Servers;
  /** The operator's choice for this server. */
  protocolFor: (target: Target) => 'auto' | Protocol;
}

type Translated = UpstreamCall | { fault: Fault } | Denial;

export async function translateCall(
  call: MethodCall,
  target: Target,
  deadline: Deadline,
  { servers, protocolFor }: TranslateDeps,
): Promise<Translated> {
  const chosen = protocolFor(target);
  if (chosen === 'jsonrpc') return await translateToJsonrpc(call, target, deadline);
  const protocols = chosen === 'json2' ? JSON2_ONLY : await servers.findProtocols(target, deadline.signal);
  if (protocols === ABORTED) return denyEnded(deadline, notSent(call));
  if ('failure' in protocols) return denyUnanswered(protocols, call, deadline);
  if (!protocols.json2)
    return protocols.jsonrpc ? await translateToJsonrpc(call, target, deadline) : denyNoOdoo(call, protocols);
  const hasChoice = protocols.jsonrpc;
  // /jsonrpc takes a user's password in place of the key, json2 does not (docs/odoo-facts.md#password-for-key).
  if (
    hasChoice &&
    (!isApiKeyShaped(target.apiKey) || servers.hasFailedOverJson2(target, call.model, call.method))
  ) {
    return await translateToJsonrpc(call, target, deadline);
  }
  const translated = await translateToJson2(call, target, deadline, servers, hasChoice);
  if (translated instanceof Denial || 'request' in translated) return translated;
  // If the server has both protocols, /jsonrpc reports the mistake, in the order in which Odoo checks.
  return hasChoice ? await translateToJsonrpc(call, target, deadline) : translated.otherwise;
}

const JSON2_ONLY: Protocols = { jsonrpc: false, json2: true };

async function translateToJsonrpc(
  call: MethodCall,
  target: Target,
  deadline: Deadline,
): Promise<UpstreamCall> {
  const { model, method, params, keyword, isReadOnly } = call;
  const { db, userId, apiKey } = target;
  const parts = { db, userId, apiKey, model, method, params, keyword };
  return {
    request: {
      method: 'POST',
      origin: target.origin,
      trust: target.trust,
      path: `${target.pathPrefix}/jsonrpc`,
      // Odoo 19 answers two to three times faster with the database's name (docs/odoo-facts.md#database-header). Older
      // versions ignore it.
      headers: { 'content-type': 'application/json', 'x-odoo-database': db },
      body: await largeCalls.buildExecuteKw(parts, deadline.signal),
    },
    protocol: 'jsonrpc',
    resultShape: 'same',
    target,
    model,
    method,
    isReadOnly,
  };
}

/** A call that cannot be sent over json2 with a certain result. */
interface Uncertain {
  /** The reply if the server has no other protocol. */
  otherwise: { fault: Fault } | Denial;
}

async function translateToJson2(
  call: MethodCall,
  target: Target,
  deadline: Deadline,
  servers: Servers,
  hasChoice: boolean,
): Promise<UpstreamCall | Uncertain | Denial> {
  const { model, method } = call;
  const signature = await findCallSignature(call, target, deadline, servers);
  if (signature === ABORTED) return denyEnded(deadline, notSent(call));
  const mapped = await largeCalls.mapCall(call, target, signature, hasChoice, deadline.signal);
  // If the server has both protocols, /jsonrpc reports the mistake.
  if (hasChoice && 'unmappable' in mapped) return { otherwise: denyUnmappable(call, mapped.unmappable) };

  const refused = await confirmCredentials(call, target, deadline, servers);
  if (refused !== null) return refused;
  if (!('head' in mapped) && !hasChoice) {
    // Odoo checks the model before the method and its arguments (docs/odoo-facts.md#json2-check-order).
    const missing = await servers.findMissingModel(target, model, deadline.signal);
    if (missing === ABORTED) return denyEnded(deadline, notSent(call));
    if ('fault' in missing) return { otherwise: missing };
    if ('failure' in missing) return denyUnanswered(missing, call, deadline);
  }
  // Over /jsonrpc too, the ids would become another argument.
  if ('takesRecords' in mapped) return denyIds(model, method);
  if ('unmappable' in mapped) return { otherwise: denyUnmappable(call, mapped.unmappable) };
  // Odoo checks the credentials before the arguments (docs/odoo-facts.md#jsonrpc-check-order).
  if ('fault' in mapped) return { otherwise: mapped };
  const { head, body, isIdsGuess, resultShape } = mapped;
  return {
    request: { method: 'POST', origin: target.origin, trust: target.trust, ...head, body },
    protocol: 'json2',
    resultShape,
    target,
    model,
    method,
    isReadOnly: call.isReadOnly,
    ...(isIdsGuess && { ifNoIds: denyUnmappable(call, NO_IDS) }),
  };
}

const NO_IDS = 'it takes no records, so that the list in `params` is another argument';

function findCallSignature(
  { model, method }: MethodCall,
  target: Target,
  deadline: Deadline,
  servers: Servers,
): Signature | undefined | Promise<Signature | undefined | typeof ABORTED> {
  return findSignature(model, method) ?? findOnServer();

  async function findOnServer() {
    const described = await servers.findSignature(target, model, method, deadline.signal);
    return described ?? findModelSignature(model, method);
  }
}

/** Null if the key belongs to the user that the call names. */
async function confirmCredentials(
  call: MethodCall,
  target: Target,
  deadline: Deadline,
  servers: Servers,
): Promise<Uncertain | Denial | null> {
  const confirmation = await servers.confirmUser(target, deadline.signal);
  if (confirmation === ABORTED) return denyEnded(deadline, notSent(call));
  if (confirmation === 'confirmed') return null;
  if ('failure' in confirmation) return denyUnanswered(confirmation, call, deadline);
  if ('unconfirmed' in confirmation)
    return { otherwise: denyStatus(confirmation.unconfirmed, call, 'not_sent') };
  return { otherwise: { fault: confirmation } };
}

function denyUnanswered({ failure }: Unanswered, call: MethodCall, deadline: Deadline): Denial {
  // The failed request came before the call, of which nothing was sent.
  if ('ok' in failure && !failure.ok) return denyFailure({ ...failure, sent: false }, call, deadline);
  return denyStatus(failure, call, 'not_sent');
}

function denyNoOdoo(call: MethodCall, { firewall, redirect }: Protocols): Denial {
  if (firewall !== undefined) return denyStatus(firewall, call, 'not_sent');
  const advice =
    adviseRedirect(redirect ?? null) ??
    'Check that `erp_instance.url` is its base address, with the correct scheme and prefix; redirects are not followed.';
  return new Denial(
    'upstream_bad_response',
    `The server has neither Odoo's /jsonrpc nor /json/2. ${advice} The call was not run.`,
    notSent(call),
  );
}

function denyUnmappable({ model, method }: MethodCall, reason: string): Denial {
  return new Denial(
    'invalid_params',
    `This server takes named arguments only, and those of \`${model}.${method}\` cannot be told: ${reason}. Leave \`params\` empty and give every argument by its name in \`keyword\`, with \`ids\` for the records (null where the method takes none).`,
    { path: 'params' },
  );
}

function notSent({ isReadOnly }: MethodCall) {
  return { outcome: 'not_sent', isReadOnly } as const;
}

interface ProtocolSettings {
  /** `auto`, or a protocol. */
  protocol: string;
  /** Exceptions for single servers: an origin, `=`, and `auto` or a protocol. */
  protocolFor: readonly string[];
}

/** The operator's choice of protocol: that of the stored instance, or by the server's origin. */
export function createProtocolChoice({
  protocol,
  protocolFor,
}: ProtocolSettings): TranslateDeps['protocolFor'] {
  const byOrigin = new Map(
    protocolFor.map((entry) => {
      const [origin = '', chosen] = entry.split('=');
      return [new URL(origin).origin, chosen as 'auto' | Protocol];
    }),
  );
  const otherwise = protocol as 'auto' | Protocol;
  return ({ origin, instance }) => {
    const own = instance?.protocol ?? 'auto';
    return own === 'auto' ? (byOrigin.get(origin) ?? otherwise) : own;
  };
}
