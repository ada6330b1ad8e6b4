/** For tests: counts the requests and connections that servers of this process receive. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { closeAfterTest } from './close-after-test.ts';

function watch<Message>(channel: string, note: (message: Message) => void): void {
  const listener = (message: unknown) => note(message as Message);
  subscribe(channel, listener);
  closeAfterTest({ close: () => unsubscribe(channel, listener) });
}

/**
 * Counts the requests for a path during the current test: requests that were received completely, and requests whose
 * answer was sent, or whose caller has left. Does not see requests that the proxy reads without `node:http`.
 */
export function watchRequests(path: string): { received: number; closed: number } {
  const counts = { received: 0, closed: 0 };
  watch<{ request: IncomingMessage; response: ServerResponse }>(
    'http.server.request.start',
    ({ request, response }) => {
      if (request.url !== path) return;
      request.on('end', () => counts.received++);
      response.on('close', () => counts.closed++);
    },
  );
  return counts;
}

/**
 * Counts the connections to the server at an address that are opened during the current test, and those that are closed
 * again.
 */
export function watchConnections(url: string): { opened: number; closed: number } {
  const counts = { opened: 0, closed: 0 };
  const port = Number(new URL(url).port);
  watch<{ socket: Socket }>('net.server.socket', ({ socket }) => {
    if (socket.localPort !== port) return;
    counts.opened++;
    socket.on('close', () => counts.closed++);
  });
  return counts;
}
