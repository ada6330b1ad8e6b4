import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TEST_CERTIFICATE, TEST_KEY } from '../../../egress/test/test-certificate.ts';
import { listenOnFreePort } from '../../../server/test/listen.ts';
import { StoreError } from '../store-error.ts';
import { createTestSchema, type TestSchema } from './database.fixture.ts';
import { openPostgresStore } from './store.ts';

const SERVER_URL = process.env['TEST_POSTGRES_URL'] ?? '';

describe.skipIf(SERVER_URL === '')('on the server that TEST_POSTGRES_URL names, behind TLS', () => {
  let directory: string;
  let certificateFile: string;
  let schema: TestSchema;
  let front: Front;

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'erp-proxy-tls-'));
    certificateFile = join(directory, 'root.pem');
    writeFileSync(certificateFile, TEST_CERTIFICATE);
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  beforeEach(async () => {
    schema = await createTestSchema(SERVER_URL);
    front = await createFront(new URL(schema.url));
  });
  afterEach(async () => {
    await front.close();
    await schema.drop();
  });

  test.each([
    ['verify-full, by a name in the certificate', 'localhost', 'verify-full', true],
    ['require with the authority, by a name in the certificate', 'localhost', 'require', true],
    ['verify-ca, by a name that is not in the certificate', '127.0.0.1', 'verify-ca', true],
    ['no-verify, with any certificate', '127.0.0.1', 'no-verify', false],
    ['prefer, with any certificate', '127.0.0.1', 'prefer', false],
  ])('is reached over TLS with %s', async (_, host, mode, isRootNamed) => {
    const store = await openPostgresStore(addressOf(host, mode, isRootNamed));
    await store.probe();
    await store.close();
    expect(front.counts).toEqual({ encrypted: 3, clear: 0 });
  });

  test.each([
    ['require, with an unknown authority', 'localhost', 'require', false, /signed by nobody trusted/],
    ['verify-full, with an unknown authority', 'localhost', 'verify-full', false, /with sslrootcert/],
    ['verify-full, for another name', '127.0.0.1', 'verify-full', true, /is for another name/],
    ['require, for another name', '127.0.0.1', 'require', true, /is for another name/],
  ])('is refused with a certificate that is wrong for %s', async (_, host, mode, isRootNamed, says) => {
    const error = await openPostgresStore(addressOf(host, mode, isRootNamed)).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toMatch(says);
    expect(String(error)).not.toContain('hunter2');
  });

  describe('without TLS on the server', () => {
    beforeEach(() => {
      front.speaksTls = false;
    });

    test.each(['require', 'verify-full', 'no-verify'])('is refused with %s', async (mode) => {
      await expect(openPostgresStore(addressOf('127.0.0.1', mode, false))).rejects.toThrow(/speaks no TLS/);
      expect(front.counts.clear).toBe(0);
    });

    test('is reached unencrypted with prefer', async () => {
      const store = await openPostgresStore(addressOf('127.0.0.1', 'prefer', false));
      await store.close();
      expect(front.counts.clear).toBeGreaterThan(0);
    });
  });

  function addressOf(host: string, mode: string, isRootNamed: boolean): string {
    const url = new URL(schema.url);
    url.hostname = host;
    url.port = String(front.port);
    url.password = 'hunter2';
    url.searchParams.set('sslmode', mode);
    if (isRootNamed) url.searchParams.set('sslrootcert', certificateFile);
    return url.href;
  }
});

interface Front {
  port: number;
  speaksTls: boolean;
  /** Numbers of established connections. */
  counts: { encrypted: number; clear: number };
  close(): Promise<void>;
}

/** Adds TLS to a server that has none (PostgreSQL documentation, protocol-flow, "SSL Session Encryption"). */
async function createFront(target: URL): Promise<Front> {
  const SSL_REQUEST = 80_877_103;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', (first) => {
      if (first.readInt32BE(4) !== SSL_REQUEST) {
        front.counts.clear++;
        return passOn(socket).write(first);
      }
      if (!front.speaksTls) return socket.end('N');
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, key: TEST_KEY, cert: TEST_CERTIFICATE });
      secure.on('error', () => {});
      secure.on('secure', () => {
        front.counts.encrypted++;
        passOn(secure);
      });
    });
  });
  const front: Front = {
    port: await listenOnFreePort(server),
    speaksTls: true,
    counts: { encrypted: 0, clear: 0 },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return front;

  function passOn(socket: Socket): Socket {
    const far = connect(Number(target.port || 5432), target.hostname);
    far.on('error', () => socket.destroy());
    socket.on('close', () => far.destroy());
    far.pipe(socket).pipe(far);
    return far;
  }
}
