/** What reverse proxies may say of a request: the address of its caller, and its id. */

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import type { FastifyInstance } from 'fastify';

/** The end of a connection that is not ours. Without an address if it has left already. */
interface Peer {
  readonly remoteAddress?: string | undefined;
}

export type FindAddress = (peer: Peer, headers: ReadonlyMap<string, string>) => string;

/**
 * Finds the address of a caller behind trusted reverse proxies, by the rules of Fastify's `trustProxy`: addresses or
 * CIDRs whose `x-forwarded-for` is trusted. Ports in the header are ignored.
 */
export function createAddressFinder(trustProxy: readonly string[]): FindAddress {
  if (trustProxy.length === 0) return findPeer;
  const isTrusted = proxyAddr.compile([...trustProxy]);
  return (peer, headers) => {
    const forwarded = headers.get('x-forwarded-for');
    if (forwarded === undefined) return findPeer(peer);
    // The only members of a request that the library reads.
    const request: unknown = {
      socket: { remoteAddress: findPeer(peer) },
      headers: { 'x-forwarded-for': dropPorts(forwarded) },
    };
    return proxyAddr(request as IncomingMessage, isTrusted);
  };
}

/** Removes the ports before Fastify reads the header, so that `request.ip` is the same address. */
export function dropForwardedPorts(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const forwarded = headers['x-forwarded-for'];
    if (typeof forwarded === 'string') headers['x-forwarded-for'] = dropPorts(forwarded);
    done();
  });
}

const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|"?\[([\da-f:.]+)\](?::\d+)?"?)$/i;

/** Removes ports, which some reverse proxies write, such as Azure's Application Gateway: `203.0.113.7:50123`. */
function dropPorts(forwarded: string): string {
  if (!/[:[]/.test(forwarded)) return forwarded;
  const hops = forwarded.split(',').map((hop) => {
    const address = hop.trim();
    const found = WITH_PORT.exec(address);
    return found?.[1] ?? found?.[2] ?? address;
  });
  return hops.join(', ');
}

/** The address of the connection; empty if the caller has already left. */
function findPeer({ remoteAddress }: Peer): string {
  return remoteAddress ?? '';
}

/** The id of a request, which appears in its answer and in the log. */
export function readRequestId(headers: IncomingHttpHeaders): string {
  return chooseRequestId(headers['x-request-id']);
}

/** The caller's own id if it is safe to log, otherwise a new one (docs/execute.md#headers). */
export function chooseRequestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
}
