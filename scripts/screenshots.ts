/**
 * `npm run screenshots [-- <folder>]`: writes the pictures of docs/console.md, from the real console in Chromium. With
 * a folder, writes there each page at three widths, light and dark, to be looked at, and prints how long the first
 * paint took.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import buildPage from '../packages/console/test/build-page.ts';
import { ADMIN_TOKEN, startSeededProxy } from '../packages/console/test/seed-proxy.ts';

const CHROMIUM = '/usr/bin/chromium';
const PICTURES = fileURLToPath(new URL('../docs/images', import.meta.url));
const [lookFolder] = process.argv.slice(2);
const WIDTHS = [360, 1280, 2560];
const ARGS = JSON.stringify({ fields: '["name","email","country_id"]', limit: '5' });
const PLAYGROUND = `/playground?instance=production&model=res.partner&args=${encodeURIComponent(ARGS)}`;
/** The pages that docs/console.md shows. */
const SHOWN = { overview: 'light', playground: 'light', calls: 'dark', key: 'dark' } as const;

buildPage();
const proxy = await startSeededProxy();
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'],
});
try {
  const paths = await listPaths();
  if (lookFolder === undefined) {
    mkdirSync(PICTURES, { recursive: true });
    for (const [name, scheme] of Object.entries(SHOWN)) {
      await takePicture(paths[name] as string, join(PICTURES, `console-${name}.png`), 1280, scheme);
    }
  } else {
    mkdirSync(lookFolder, { recursive: true });
    for (const [name, path] of Object.entries(paths)) {
      for (const width of WIDTHS) {
        for (const scheme of ['light', 'dark'] as const) {
          await takePicture(path, join(lookFolder, `${name}-${width}-${scheme}.png`), width, scheme);
        }
      }
    }
  }
} finally {
  await browser.close();
  await proxy.close();
}

async function listPaths(): Promise<Record<string, string>> {
  const { items } = await proxy.ask('GET', '/keys?search=shop');
  return {
    overview: '/?range=6h',
    playground: PLAYGROUND,
    calls: '/calls',
    keys: '/keys',
    key: `/keys/${items[0].id}?tab=policy`,
    instances: '/instances',
    instance: '/instances/production',
    subscription: '/subscriptions/search-index',
    approvals: '/approvals',
    start: '/start',
  };
}

async function takePicture(path: string, file: string, width: number, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport: { width, height: 860 }, colorScheme });
  try {
    const page = await context.newPage();
    await page.request.post(`${proxy.url}/admin/v1/session`, {
      data: { token: ADMIN_TOKEN },
      headers: { origin: proxy.url },
    });
    await page.goto(proxy.url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (path === PLAYGROUND) await page.getByRole('button', { name: 'Run', exact: true }).click();
    // Charts and editors load after the page.
    await page.waitForTimeout(1500);
    await page.screenshot({ path: file, fullPage: lookFolder !== undefined, animations: 'disabled' });
    process.stdout.write(`${file} first paint ${await readFirstPaintMs(page)} ms\n`);
  } finally {
    await context.close();
  }
}

async function readFirstPaintMs(page: Page): Promise<number> {
  const paint = await page.evaluate(
    `performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`,
  );
  return Math.round(paint as number);
}
