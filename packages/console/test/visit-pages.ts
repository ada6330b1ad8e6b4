/** Opens pages of the console one after another, each at several widths, in light and dark mode. */
import type { Browser, Page, Request } from 'playwright-core';
import { pause } from '../../server/test/time.ts';
import { PATIENCE_MS } from './launch-chromium.ts';
import { ADMIN_TOKEN } from './seed-proxy.ts';

const WIDTHS = [360, 1280, 2560];
const STILL_FRAMES = 4;
const SCHEMES = ['light', 'dark'] as const;

interface Surroundings {
  width: number;
  scheme: (typeof SCHEMES)[number];
}

/** All combinations of width and colour scheme. */
export const ALL_SURROUNDINGS: readonly Surroundings[] = WIDTHS.flatMap((width) =>
  SCHEMES.map((scheme) => ({ width, scheme })),
);

export interface View extends Surroundings {
  /** Name of the page. */
  name: string;
  page: Page;
}

interface Visit {
  browser: Browser;
  url: string;
  paths: Record<string, string>;
  /** The combinations in which each page is shown, in this order. Default: all. */
  surroundings?: readonly Surroundings[];
  onView: (view: View) => Promise<void>;
  /** Called with each uncaught error of a page, and each error that it logs to its console. */
  onError: (name: string, text: string) => void;
}

export async function visitPages({
  browser,
  url,
  paths,
  surroundings = ALL_SURROUNDINGS,
  onView,
  onError,
}: Visit): Promise<void> {
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    await context.request.post(`${url}/admin/v1/session`, {
      data: { token: ADMIN_TOKEN },
      headers: { origin: url },
    });
    const page = await context.newPage();
    const pending = watchRequests(page);
    let current = '';
    page.on('pageerror', (error) => onError(current, String(error)));
    page.on('console', (message) => {
      // Ignores Chromium's line for each error status, because pages show such errors themselves.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        onError(current, message.text());
    });
    for (const [name, path] of Object.entries(paths)) {
      current = name;
      await page.goto(url + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      if (name.startsWith('playground-') && name !== 'playground-empty') await runCall(page);
      await waitForParts(page, pending);
      // Scrolls back after the click, because a picture of the whole page begins at its top.
      await page.evaluate('scrollTo(0, 0)');
      for (const { width, scheme } of surroundings) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        // Charts and editors are rendered again.
        await waitForDrawing(page);
        await onView({ name, width, scheme, page });
      }
    }
  } finally {
    await context.close();
  }
}

/** Waits until the page has not changed for several frames. Charts and editors are rendered after their page. */
export async function waitForDrawing(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    let left = ${STILL_FRAMES};
    const observer = new MutationObserver(() => {
      left = ${STILL_FRAMES};
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    requestAnimationFrame(function look() {
      left--;
      if (left >= 0) return void requestAnimationFrame(look);
      observer.disconnect();
      resolve();
    });
  })`);
}

async function runCall(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Run', exact: true, disabled: false }).click();
  await page.getByText(/^(OK|Error) · \d+$/).waitFor();
}

/** The requests that the page is waiting for. */
function watchRequests(page: Page): ReadonlySet<Request> {
  const pending = new Set<Request>();
  page.on('request', (request) => {
    // Left out, because the console does not read the body of this answer, and Chromium then does not report its end.
    if (!request.url().endsWith('/admin/v1/session')) pending.add(request);
  });
  page.on('requestfinished', (request) => pending.delete(request));
  page.on('requestfailed', (request) => pending.delete(request));
  return pending;
}

/** Waits for charts and editors, which load after the page. */
async function waitForParts(page: Page, pending: ReadonlySet<Request>): Promise<void> {
  do {
    while (pending.size > 0) await pause();
    await waitForDrawing(page);
  } while (pending.size > 0);
}
