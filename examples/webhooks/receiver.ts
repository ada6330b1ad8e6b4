/**
 * Receives the deliveries of a subscription, checks their signatures, and prints each change once.
 *
 * Run: WEBHOOK_SECRET=whsec_… PORT=9000 node examples/webhooks/receiver.ts
 */
import { createServer } from 'node:http';
import { env } from 'node:process';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook } from '@erp-proxy/client';

/**
 * The secret of the subscription; during a rotation, two secrets with a comma in between. Anyone can sign with an empty
 * one.
 */
const secret = (env['WEBHOOK_SECRET'] ?? '').split(',').filter((text) => !/^\s*(whsec_)?\s*$/.test(text));
if (secret.length === 0) {
  process.stderr.write('Set WEBHOOK_SECRET to the secret of the subscription.\n');
  process.exit(1);
}
/** Ids that were processed. A real receiver keeps them in its database, in the transaction of the change. */
const processed = new Set<string>();

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  try {
    const event = await verifyWebhook({ body, headers: request.headers, secret });
    if (!processed.has(event.id)) {
      process.stdout.write(`${event.type} ${event.type === 'ping' ? '' : event.data.id}\n`);
      processed.add(event.id);
    }
    // A delivery without a 2xx answer within 15 seconds is sent again.
    response.writeHead(204).end();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    response.writeHead(401).end();
  }
});
server.listen(Number(env['PORT'] ?? 9000), '127.0.0.1');
