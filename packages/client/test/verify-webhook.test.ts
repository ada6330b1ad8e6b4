/** Compares the verification of deliveries with that of the official library of Standard Webhooks. */
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test, vi } from 'vitest';
import { verifyWebhook } from '../src/index.ts';

// The clock stands still: the bound of the tolerance is tested to the second.
vi.useFakeTimers({ toFake: ['Date'] });
afterAll(() => vi.useRealTimers());

const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 4).toString('base64')}`;
const BODY =
  '{"type":"res.partner.upserted","timestamp":"2026-11-25T00:00:00.000Z","data":{"id":7,"record":{"name":"é 🙂"}}}';

function sign(secret = SECRET, body = BODY, at = new Date()) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}

test('accepts what the official library signs', async () => {
  const event = { id: 'msg_1', ...JSON.parse(BODY) };
  expect(await verifyWebhook({ body: BODY, headers: sign(), secret: SECRET })).toEqual(event);
  const bytes = { body: Buffer.from(BODY), headers: new Headers(sign()), secret: [OTHER, SECRET] };
  expect(await verifyWebhook(bytes)).toEqual(event);
  const both = {
    ...sign(),
    'webhook-signature': `v2,x ${sign(OTHER)['webhook-signature']} ${sign()['webhook-signature']}`,
  };
  expect(await verifyWebhook({ body: BODY, headers: both, secret: SECRET })).toEqual(event);
});

test.each([
  ['another secret', { secret: OTHER }, 'The webhook-signature is not valid.'],
  ['another body', { body: `${BODY} ` }, 'The webhook-signature is not valid.'],
  ['another id', { headers: { ...sign(), 'webhook-id': 'msg_2' } }, 'The webhook-signature is not valid.'],
  [
    'no signature',
    { headers: { ...sign(), 'webhook-signature': undefined } },
    'The header webhook-signature is missing.',
  ],
  [
    'a signature that is no base64',
    { headers: { ...sign(), 'webhook-signature': 'v1,é' } },
    'The webhook-signature is not valid.',
  ],
  [
    'an old delivery',
    { headers: sign(SECRET, BODY, new Date(Date.now() - 301_000)) },
    'The webhook-timestamp is too far from now.',
  ],
  [
    'a delivery of the future',
    { headers: sign(SECRET, BODY, new Date(Date.now() + 302_000)) },
    'The webhook-timestamp is too far from now.',
  ],
  [
    'a time that is none',
    { headers: { ...sign(), 'webhook-timestamp': 'NaN' } },
    'The webhook-timestamp is too far from now.',
  ],
])('refuses %s', async (_, changes, message) => {
  await expect(verifyWebhook({ body: BODY, headers: sign(), secret: SECRET, ...changes })).rejects.toThrow(
    message,
  );
});
