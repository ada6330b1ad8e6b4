/**
 * A process that simulates an Odoo server over JSON-RPC and breaks connections at random. It records each create by the
 * marker in its values, and how each connection ended. These records are the truth of a run.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createRandom } from '../packages/server/test/seeded-random.ts';
import { readMessage } from './http-message.ts';

/** Probability of each fate of a connection. */
const FATES = {
  /** The connection is closed before any of the request is read. */
  closedUnread: 0.03,
  closedBeforeRunning: 0.03,
  closedAfterRunning: 0.03,
  closedInAnswer: 0.03,
  /** The call is run and never answered. */
  silentAfterRunning: 0.01,
} as const;

type Fate = keyof typeof FATES | 'answered';

export interface OdooRecord {
  port: number;
  /** Markers in the order of their creates. The id of a record is its position, starting at 1. */
  creates: string[];
  /** Number of connections for each way in which they ended. */
  fates: Partial<Record<Fate, number>>;
}

const WORK_MS_MAX = 12;

if (process.send !== undefined) await serve(Number(process.argv[2]));

async function serve(seed: number): Promise<void> {
  const random = createRandom(seed);
  const record: OdooRecord = { port: 0, creates: [], fates: {} };
  const server = createServer({ noDelay: true }, (socket) => {
    const fate = drawFate(random());
    record.fates[fate] = (record.fates[fate] ?? 0) + 1;
    socket.on('error', () => {});
    if (fate === 'closedUnread') socket.destroy();
    else readMessage(socket, (_, body) => handle(fate, socket, body));
  });

  function handle(fate: Fate, socket: Socket, body: string): void {
    if (fate === 'closedBeforeRunning') return void socket.destroy();
    setTimeout(() => {
      const marker = readMarker(body);
      // Any other call is the proxy's request for the version.
      const answer = buildAnswer(marker === null ? '"17.0"' : String(record.creates.push(marker)));
      const sentLengths = {
        closedAfterRunning: 0,
        closedInAnswer: answer.length - 3,
        answered: answer.length,
      };
      if (fate === 'silentAfterRunning') return;
      const text = answer.slice(0, sentLengths[fate as keyof typeof sentLengths]);
      if (fate === 'answered') socket.end(text);
      else if (text === '') socket.destroy();
      else socket.write(text, () => socket.destroy());
    }, random() * WORK_MS_MAX);
  }

  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
  await once(server, 'listening');
  record.port = (server.address() as AddressInfo).port;
  process.on('message', () => process.send?.(record));
  process.on('disconnect', () => process.exit());
  process.send?.(record);
}

function drawFate(share: number): Fate {
  let rest = share;
  for (const [fate, size] of Object.entries(FATES)) {
    rest -= size;
    if (rest < 0) return fate as Fate;
  }
  return 'answered';
}

function readMarker(body: string): string | null {
  return /"create",\s*\[\{"name":\s*"(marker-\d+)"/.exec(body)?.[1] ?? null;
}

function buildAnswer(result: string): string {
  const body = `{"jsonrpc": "2.0", "id": 1, "result": ${result}}`;
  const head = ['HTTP/1.0 200 OK', 'Content-Type: application/json', `Content-Length: ${body.length}`];
  return `${head.join('\r\n')}\r\nConnection: close\r\n\r\n${body}`;
}
