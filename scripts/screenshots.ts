/**
 * `npm run screenshots [-- <folder> [--hostile]]`: writes the pictures of docs/console.md, from the real console in
 * Chromium. With a folder, writes there each page at three widths, light and dark, to be looked at, and prints how long
 * the first paint took. With `--hostile`, the pages have hostile and very long values.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import buildPage from '../packages/console/test/build-page.ts';
import { startHostileProxy } from '../packages/console/test/hostile-proxy.ts';
import { launchChromium } from '../packages/console/test/launch-chromium.ts';
import { ADMIN_TOKEN, startSeededProxy } from '../packages/console/test/seed-proxy.ts';
import { ALL_SURROUNDINGS, visitPages } from '../packages/console/test/visit-pages.ts';

const PICTURES = fileURLToPath(new URL('../docs/images', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { hostile: { type: 'boolean', default: false } },
});
const [lookFolder] = positionals;
const ARGS = JSON.stringify({ fields: '["name","email","country_id"]', limit: '5' });
const PLAYGROUND = `/playground?instance=production&model=res.partner&args=${encodeURIComponent(ARGS)}`;
/** The pages that docs/console.md shows. */
const SHOWN = { overview: 'light', playground: 'light', calls: 'dark', key: 'dark' } as const;

buildPage();
if (values.hostile && lookFolder !== undefined) {
  await takeHostilePictures(lookFolder);
  process.exit();
}
const proxy = await startSeededProxy();
const browser = await launchChromium();
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
      for (const { width, scheme } of ALL_SURROUNDINGS) {
        await takePicture(path, join(lookFolder, `${name}-${width}-${scheme}.png`), width, scheme);
      }
    }
  }
} finally {
  await browser.close();
  await proxy.close();
}

async function takeHostilePictures(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { url, paths, close } = await startHostileProxy();
  const browser = await launchChromium();
  await visitPages({
    browser,
    url,
    paths,
    async onView({ name, width, scheme, page }) {
      const file = join(folder, `${name}-${width}-${scheme}.png`);
      await page.screenshot({ path: file, fullPage: true, animations: 'disabled' });
      process.stdout.write(`${file}\n`);
    },
    onError: (name, text) => process.stdout.write(`${name}: ${text}\n`),
  });
  await browser.close();
  await close();
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
    // The click has scrolled down to the button.
    await page.evaluate('scrollTo(0, 0)');
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
