/** Starts the real program with an Odoo behind it, and measures how long its event loop is busy without a break. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { closeAfterTest } from '../close-after-test.ts';
import { makeFolder, runProgram, startServer } from '../process/program.ts';
import { pause } from '../time.ts';

const MONITOR = fileURLToPath(new URL('./gap-monitor.mjs', import.meta.url));
const FIELDS = JSON.stringify({
  id: { type: 'integer' },
  name: { type: 'char' },
  ref: { type: 'char' },
  vat: { type: 'char' },
  color: { type: 'integer' },
  active: { type: 'boolean' },
  comment: { type: 'text' },
  image_1920: { type: 'binary' },
  child_ids: { type: 'one2many', relation: 'res.partner' },
  user_ids: { type: 'one2many', relation: 'res.users' },
});

export interface Posted {
  path?: string;
  key: string;
  headers?: Record<string, string>;
  /** The body, or a function that makes its chunks. */
  body: Uint8Array | (() => Iterable<Uint8Array>);
}

export interface Stage {
  /** Address of the proxy. */
  url: string;
  /** Address of Odoo. */
  odoo: string;
  /** The answer of Odoo to `search_read`: JSON text of the result, or the whole body. */
  answer: { result: string } | { body: Buffer };
  post(posted: Posted): Promise<{ status: number; body: Buffer }>;
  makeKey(policy?: object): Promise<string>;
  /** Stores the Odoo as an instance: tools for agents use stored instances only. */
  addInstance(): Promise<void>;
  /** The longest busy time of the event loop since the last call of this function, in milliseconds. */
  readLongestGap(): Promise<number>;
  /** The peak memory of the program so far. */
  readPeakMib(): number;
}

export async function startStage(settings: readonly string[] = []): Promise<Stage> {
  const folder = makeFolder();
  const odoo = createServer(async (incoming, response) => {
    let head = '';
    for await (const chunk of incoming)
      if (head.length < 1000) head += (chunk as Buffer).toString('latin1', 0, 1000);
    response.setHeader('content-type', 'application/json');
    const isJsonrpc = incoming.url === '/jsonrpc';
    const isFields = isJsonrpc ? head.includes('"fields_get"') : incoming.url?.endsWith('/fields_get');
    const other = head.includes('"search_read"') ? stage.answer : { result: 'true' };
    const answer = isFields ? { result: FIELDS } : other;
    if ('body' in answer) response.end(answer.body);
    else response.end(isJsonrpc ? `{"jsonrpc": "2.0", "id": 1, "result": ${answer.result}}` : answer.result);
  });
  odoo.listen(0, '127.0.0.1');
  await once(odoo, 'listening');
  closeAfterTest({ close: () => void odoo.close() });
  const url = `http://127.0.0.1:${(odoo.address() as AddressInfo).port}`;
  const server = await startServer(
    [`--egress.allow=${url}`, '--upstream.protocol=jsonrpc', '--http.requestTimeoutMs=120000', ...settings],
    { folder, env: { NODE_OPTIONS: `--import=${MONITOR}` } },
  );
  const agent = new Agent({ keepAlive: true });
  closeAfterTest({ close: () => agent.destroy() });
  let keys = 0;
  const stage: Stage = {
    url: server.url,
    odoo: url,
    answer: { result: 'true' },
    post({ path = '/api/erp/execute', key, headers = {}, body }) {
      return new Promise((resolve, reject) => {
        const sent = request(`${server.url}${path}`, {
          method: 'POST',
          agent,
          headers: {
            'x-proxy-api': key,
            'content-type': 'application/json',
            'x-request-timeout': '120',
            ...headers,
          },
        });
        sent.on('error', reject);
        sent.on('response', (response) => {
          const { statusCode = 0 } = response;
          buffer(response).then((bytes) => resolve({ status: statusCode, body: bytes }), reject);
        });
        if (body instanceof Uint8Array) sent.end(body);
        else {
          for (const chunk of body()) sent.write(chunk);
          sent.end();
        }
      });
    },
    async makeKey(policy) {
      const file = join(folder, `policy-${++keys}.json`);
      if (policy !== undefined) writeFileSync(file, JSON.stringify(policy));
      const options = policy === undefined ? [] : [`--policy=${file}`];
      const args = ['keys', 'create', `--name=test ${keys}`, ...options, ...server.settings];
      const { status, stdout, stderr } = await runProgram(args, { folder });
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    async addInstance() {
      const file = join(folder, 'upstream-key');
      writeFileSync(file, 'upstream-key-0123456789');
      const options = [
        `--erp-url=${url}`,
        '--db=prod',
        '--user-id=2',
        `--api-key-file=${file}`,
        '--allow-private',
      ];
      const args = ['instances', 'add', 'odoo', ...options, ...server.settings];
      const { status, stderr } = await runProgram(args, { folder });
      if (status !== 0) throw new Error(stderr);
    },
    async readLongestGap() {
      const before = server.stderr.length;
      server.kill('SIGUSR2');
      for (;;) {
        const match = /longest gap ([\d.]+) ms\n/.exec(server.stderr.slice(before));
        if (match !== null) return Number(match[1]);
        await pause();
      }
    },
    readPeakMib() {
      const [, kib] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? [];
      return Number(kib) / 1024;
    },
  };
  return stage;
}
