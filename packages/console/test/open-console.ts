/** Opens the console in Chromium for tests, served by a real proxy with a sandbox as Odoo. */
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/src/index.ts';
import { HAS_CHROMIUM } from '../../server/test/chromium.ts';
import { closeAfterTest } from '../../server/test/close-after-test.ts';
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../../server/test/harness.ts';
import { PATIENCE_MS, shareChromium } from './launch-chromium.ts';
import { ADMIN_TOKEN, MASTER_KEY } from './seed-proxy.ts';

export { ADMIN_TOKEN, HAS_CHROMIUM };

export interface ConsoleOptions extends Pick<ProxyOptions, 'clock' | 'settings'> {
  /** Path of the page to open. Default: `/`. */
  path?: string;
  /** Width of the window. Default: 1280. */
  width?: number;
  colorScheme?: 'light' | 'dark';
  /** False: opens the console without a session. */
  isSignedIn?: boolean;
  sandbox?: SandboxOptions;
  /** False: the proxy has no admin token. */
  hasToken?: boolean;
  /** False: the proxy has no master key. */
  hasMasterKey?: boolean;
}

export interface OpenConsole {
  page: Page;
  proxy: RunningProxy;
  sandbox: Sandbox;
  /** Sends a request to the admin API with the token, and returns the parsed answer. */
  ask(method: string, path: string, body?: unknown): Promise<Json>;
  /** Stores the sandbox as an instance. */
  addInstance(name?: string): Promise<void>;
  /** Opens another page of the console, by its path. */
  goto(path: string): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests compare members of any depth
type Json = any;

/**
 * Closes everything after the test. The test fails if the page has thrown an error, or has violated its content
 * security policy.
 */
export async function openConsole({
  path = '/',
  width = 1280,
  colorScheme = 'light',
  isSignedIn = true,
  sandbox: sandboxOptions = {},
  hasToken = true,
  hasMasterKey = true,
  settings = {},
  ...options
}: ConsoleOptions = {}): Promise<OpenConsole> {
  const sandbox = closeAfterTest(await startSandbox({ version: 18, ...sandboxOptions }));
  const proxy = closeAfterTest(
    await startProxy({
      ...options,
      allow: [new URL(sandbox.url).host],
      settings: {
        ...(hasToken ? { 'admin.token': ADMIN_TOKEN } : {}),
        'console.enabled': 'true',
        ...(hasMasterKey ? { 'vault.masterKey': MASTER_KEY } : {}),
        'upstream.protocol': 'auto',
        ...settings,
      },
    }),
  );
  const browser = await shareChromium();
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme,
    // Avoids transitions, in which the contrast of colours cannot be measured.
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const failures: string[] = [];
  page.on('pageerror', (error) => failures.push(String(error)));
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text())) failures.push(message.text());
  });
  closeAfterTest({
    async close() {
      await context.close();
      expect(failures).toEqual([]);
    },
  });
  const ask = async (method: string, route: string, body?: unknown): Promise<Json> => {
    const response = await fetch(`${proxy.url}/admin/v1${route}`, {
      method,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return response.status === 204 ? undefined : response.json();
  };
  if (isSignedIn) await signIn(page, proxy);
  const goto = async (to: string) => {
    await page.goto(proxy.url + to);
  };
  await goto(path);
  return {
    page,
    proxy,
    sandbox,
    ask,
    async addInstance(name = 'prod') {
      const { userId, apiKey } = sandbox.users.admin;
      await ask('POST', '/instances', {
        name,
        url: sandbox.url,
        db: sandbox.db,
        user_id: userId,
        api_key: apiKey,
      });
    },
    goto,
  };
}

/** Gives the browser a session cookie without using the form. */
async function signIn(page: Page, proxy: RunningProxy): Promise<void> {
  const response = await page.request.post(`${proxy.url}/admin/v1/session`, {
    data: { token: ADMIN_TOKEN },
    headers: { origin: proxy.url },
  });
  expect(response.status()).toBe(200);
}

/** Expects no serious or critical finding of axe-core on the page, and no sideways scrolling. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await listSeriousFindings(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}

/** The serious and critical findings of axe-core, one line for each element. `rules`: ids of rules; default: all. */
export async function listSeriousFindings(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  const options: axe.RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: [...rules] }) };
  const found = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as axe.AxeResults;
  const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
