/** The address of a caller is the same, whether a call is served directly on the connection or passes the router. */
import type { Socket } from 'node:net';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { createRandom } from '../../server/test/seeded-random.ts';
import { createAddressFinder, dropForwardedPorts } from './forwarded.ts';

const ADDRESSES = ['10.0.0.1', '10.1.2.3', '192.168.0.9', '8.8.8.8', '::1', 'fd00::1', '::ffff:10.0.0.1'];
const ODD = ['', ' ', 'unknown', '10.0.0.1:80', '[::1]', '10.0.0', '0x0a000001', 'fe80::1%eth0', '\t8.8.8.8'];
const TRUSTED = ['10.0.0.0/8', '10.0.0.1', '::1', 'fd00::/8', '::ffff:10.0.0.0/104', '192.168.0.9'];

test("follows the rules of Fastify's trustProxy", async () => {
  const seed = Date.now() % 1_000_000;
  process.stdout.write(`caller addresses: seed ${seed}\n`);
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item;
  for (let round = 0; round < 30; round++) {
    const trustProxy = TRUSTED.filter(() => random() < 0.3);
    const app = fastify({ trustProxy: trustProxy.length === 0 ? false : trustProxy });
    dropForwardedPorts(app);
    app.post('/', (request) => ({ ip: request.ip }));
    const findAddress = createAddressFinder(trustProxy);
    for (let call = 0; call < 30; call++) {
      const remoteAddress = pick(ADDRESSES);
      const hops = Array.from({ length: Math.floor(random() * 4) }, () =>
        pick(random() < 0.8 ? ADDRESSES : ODD),
      );
      const forwarded = random() < 0.2 ? undefined : hops.join(pick([',', ', ', ' ,']));
      const answer = await app.inject({
        method: 'POST',
        url: '/',
        remoteAddress,
        headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      });
      const socket: unknown = { remoteAddress };
      const headers = new Map(forwarded === undefined ? [] : [['x-forwarded-for', forwarded]]);
      expect(findAddress(socket as Socket, headers), `seed ${seed}: ${forwarded}`).toBe(answer.json().ip);
    }
    await app.close();
  }
});

test.each([
  ['8.8.8.8', '8.8.8.8'],
  ['8.8.8.8:50123', '8.8.8.8'],
  ['[2001:db8::1]', '2001:db8::1'],
  ['[2001:db8::1]:50123', '2001:db8::1'],
  ['"[2001:db8::1]:50123"', '2001:db8::1'],
  ['2001:db8::1', '2001:db8::1'],
  ['9.9.9.9, 8.8.8.8:50123,10.0.0.1:443', '8.8.8.8'],
  ['8.8.8.8:', '8.8.8.8:'],
  ['8.8.8.8:x', '8.8.8.8:x'],
  ['[8.8.8.8', '[8.8.8.8'],
])('ignores the ports that a reverse proxy adds: %s', async (forwarded, address) => {
  const socket = { remoteAddress: '10.0.0.1' } as Socket;
  expect(createAddressFinder(TRUSTED)(socket, new Map([['x-forwarded-for', forwarded]]))).toBe(address);
  const app = fastify({ trustProxy: TRUSTED });
  dropForwardedPorts(app);
  app.get('/', ({ ip }) => ({ ip }));
  const headers = { 'x-forwarded-for': forwarded };
  const answer = await app.inject({ url: '/', remoteAddress: '10.0.0.1', headers });
  expect(answer.json().ip).toBe(address);
  await app.close();
});

test('is empty for a caller that has left already, whatever proxies are trusted', () => {
  const socket = { remoteAddress: undefined } as Socket;
  const headers = new Map([['x-forwarded-for', '8.8.8.8']]);
  for (const trustProxy of [[], TRUSTED]) expect(createAddressFinder(trustProxy)(socket, headers)).toBe('');
});
