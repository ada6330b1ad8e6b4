/** Finds the address of a caller behind trusted reverse proxies, by the rules of Fastify's `trustProxy`. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';

type FindAddress = (socket: Socket, headers: ReadonlyMap<string, string>) => string;

/** `trustProxy`: addresses or CIDRs whose `x-forwarded-for` is trusted. */
export function createAddressFinder(trustProxy: readonly string[]): FindAddress {
  if (trustProxy.length === 0) return findPeer;
  const isTrusted = proxyAddr.compile([...trustProxy]);
  return (socket, headers) => {
    const forwarded = headers.get('x-forwarded-for');
    if (forwarded === undefined) return findPeer(socket);
    // All that the library reads of a request.
    const request: unknown = {
      socket: { remoteAddress: findPeer(socket) },
      headers: { 'x-forwarded-for': forwarded },
    };
    return proxyAddr(request as IncomingMessage, isTrusted);
  };
}

/** Empty if the caller has left already. */
function findPeer(socket: Socket): string {
  return socket.remoteAddress ?? '';
}
