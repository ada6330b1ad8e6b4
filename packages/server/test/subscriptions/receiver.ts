/** A receiver of webhooks that checks each delivery with the official library, and answers as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { passTurns } from '../time.ts';

export interface Received {
  /** `webhook-id` */
  id: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  /** The parsed body of the delivery. */
  // biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
  json: any;
  /** Why the signature is not valid; null if it is. */
  fault: string | null;
}

export type Answer = (response: ServerResponse, delivery: Received, index: number) => unknown;

export interface Receiver {
  url: string;
  /** The deliveries in the order of their arrival. */
  received: Received[];
  /** Number of requests that are being answered now, and the maximum so far. */
  running: number;
  runningMax: number;
  /** Secrets whose signatures are valid. Empty: signatures are not checked. */
  secrets: string[];
  answer: Answer;
  /** The records of deliveries of one type, in order. */
  list(type?: string): Received[];
  close(): Promise<void>;
}

export const TAKE: Answer = (response) => response.writeHead(204).end();
export const refuseWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end('no');

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    receiver.running++;
    receiver.runningMax = Math.max(receiver.runningMax, receiver.running);
    response.on('close', () => receiver.running--);
    const body = (await buffer(request)).toString();
    const headers = request.headers;
    const delivery: Received = {
      id: String(headers['webhook-id']),
      path: request.url ?? '',
      headers,
      body,
      json: JSON.parse(body),
      fault: findFault(body, headers as Record<string, string>, receiver.secrets),
    };
    receiver.received.push(delivery);
    await receiver.answer(response, delivery, receiver.received.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    running: 0,
    runningMax: 0,
    secrets: [],
    answer: TAKE,
    list: (type) => receiver.received.filter(({ json }) => type === undefined || json.type === type),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** More turns of the event loop than it takes until the end of a connection is read. */
const TURNS_OF_END = 20;

/**
 * Answers as `answer` says, and adds subscription and record to `overlaps` if a second delivery of it arrives before
 * the first one has ended. A sender closes the connection of an attempt that it gives up. A receiver that was paused
 * reads that end and the next attempt in one turn, in any order, so the end may come some turns later.
 */
export function watchOverlaps(overlaps: string[], answer: Answer): Answer {
  const running = new Map<string, ServerResponse>();
  return async (response, delivery, index) => {
    const { data } = delivery.json;
    const id = `${data.subscription} ${data.id}`;
    const before = running.get(id);
    running.set(id, response);
    if (before !== undefined && !before.closed) await passTurns(TURNS_OF_END);
    if (before !== undefined && !before.closed) overlaps.push(id);
    await answer(response, delivery, index);
  };
}

/** Why the signature of a secret is not valid; null if those of all secrets are. */
export function findFault(
  body: string,
  headers: Record<string, string>,
  secrets: readonly string[],
): string | null {
  const faults = secrets.map((secret) => {
    try {
      new Webhook(secret).verify(body, headers);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  });
  return faults.find((fault) => fault !== null) ?? null;
}
