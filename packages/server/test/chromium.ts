/** For tests: a page in Chromium without a window, driven by the DevTools protocol. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { hasCommand } from './examples/shop.ts';

/** Debian's commands. The shell is the same engine without a user interface, with about half the processor time. */
const COMMANDS = ['chromium-headless-shell', 'chromium'];
const found = COMMANDS.find(hasCommand);
export const HAS_CHROMIUM = found !== undefined;
export const CHROMIUM = found ?? 'chromium';
/** Time to wait for Chromium, which starts slowly on a busy machine. */
const START_MS = 60_000;
const OPTIONS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--remote-debugging-port=0',
];

export interface Page {
  /** The value of a JavaScript expression in the page. A promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until a JavaScript expression in the page is true. */
  waitFor(expression: string): Promise<void>;
  /** Sends a command of the DevTools protocol. */
  send<Result>(method: string, params?: object): Promise<Result>;
  close(): Promise<void>;
}

export async function openInChromium(url: string): Promise<Page> {
  const folder = mkdtempSync(join(tmpdir(), 'erp-proxy-chromium-'));
  const child = spawn(CHROMIUM, [...OPTIONS, `--user-data-dir=${folder}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Gives Chromium a process group, so that all its processes can be ended.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    process.kill(-(child.pid as number), 'SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const port = await readPort(child.stderr);
    const opened = await fetch(`http://127.0.0.1:${port}/json/new?${encodeURIComponent(url)}`, {
      method: 'PUT',
    });
    const { webSocketDebuggerUrl } = (await opened.json()) as { webSocketDebuggerUrl: string };
    const { send, close } = await connect(webSocketDebuggerUrl);
    return {
      ...drive(send),
      send,
      close() {
        close();
        return stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Chromium prints the address that it listens on. */
async function readPort(output: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: output, signal: AbortSignal.timeout(START_MS) });
  for await (const line of lines) {
    const [, port] = /^DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(line) ?? [];
    if (port === undefined) continue;
    // If nobody read its output, a full pipe would stop Chromium.
    output.resume();
    return port;
  }
  throw new Error('Chromium has not started.');
}

async function connect(url: string): Promise<Pick<Page, 'send'> & { close(): void }> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: { result?: unknown; error?: object }) => void>();
  let count = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, ...answer } = JSON.parse(data);
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`Chromium does not answer at ${url}.`)));
  });
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        const id = ++count;
        waiting.set(id, ({ result, error }) =>
          error ? reject(new Error(JSON.stringify(error))) : resolve(result as never),
        );
        socket.send(JSON.stringify({ id, method, params }));
      }),
    close: () => socket.close(),
  };
}

function drive(send: Page['send']): Pick<Page, 'evaluate' | 'waitFor'> {
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await send<{
      result: { value?: unknown };
      exceptionDetails?: { exception?: { description?: string } };
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? expression);
    return result.value;
  };
  return {
    evaluate,
    async waitFor(expression) {
      await expect.poll(() => evaluate(expression), { message: expression }).toBe(true);
    },
  };
}
