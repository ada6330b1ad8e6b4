/** Checks every page at each width, in light and dark mode, with hostile and very long values. */
import { beforeAll, describe, expect, test } from 'vitest';
import { closeAfterFile } from '../../server/test/close-after-test.ts';
import { listConsoleRoutes } from '../../server/test/console/list-routes.ts';
import { IS_LONG } from '../../server/test/random-cases.ts';
import { type HostileProxy, startHostileProxy } from './hostile-proxy.ts';
import { listLayoutFaults } from './inspect-layout.ts';
import { shareChromium } from './launch-chromium.ts';
import { HAS_CHROMIUM, listSeriousFindings } from './open-console.ts';
import { ALL_SURROUNDINGS, visitPages } from './visit-pages.ts';

/** Each test visits a part of the pages, because all of them take some minutes on a busy machine. */
const PARTS = 6;
/** Dark mode changes only colours, which are the same at each width. Long runs still visit every combination. */
const SURROUNDINGS = ALL_SURROUNDINGS.filter(
  ({ width, scheme }) => IS_LONG || scheme === 'light' || width === 1280,
);

describe.skipIf(!HAS_CHROMIUM)('every page', () => {
  let proxy: HostileProxy;
  beforeAll(async () => {
    proxy = closeAfterFile(await startHostileProxy());
  });

  test('is visited', () => {
    expect(listUnvisited(Object.values(proxy.paths))).toEqual([]);
  });

  test.each(Array.from({ length: PARTS }, (_, part) => part))(
    'fits into each width, light and dark, cuts no text unseen, and is accessible (part %i)',
    async (part) => {
      const paths = Object.entries(proxy.paths).filter((_, index) => index % PARTS === part);
      const found = new Set<string>();
      let views = 0;
      await visitPages({
        browser: await shareChromium(),
        url: proxy.url,
        paths: Object.fromEntries(paths),
        surroundings: SURROUNDINGS,
        async onView({ name, width, scheme, page }) {
          views++;
          const faults = await listLayoutFaults(page);
          // Unescaped, the character would reverse the name, which would then be read as another one.
          if (name === 'overview' || name === 'instance')
            expect(await page.getByText('\\u202egnp.exe').count()).toBeGreaterThan(0);
          // Axe-core does not check the widest view, which has the elements and colours of the one before. Unless the
          // run is long, it checks only the contrast in dark mode, which has the elements of light mode.
          const rules = scheme === 'dark' && !IS_LONG ? ['color-contrast'] : undefined;
          if (width < 2_000) faults.push(...(await listSeriousFindings(page, rules)));
          for (const fault of faults) found.add(`${name}, ${width} px, ${scheme}: ${fault}`);
        },
        onError: (name, text) => found.add(`${name}: ${text}`),
      });
      expect([...found]).toEqual([]);
      expect(views).toBe(paths.length * SURROUNDINGS.length);
    },
  );
});

/** The console's routes that no path visits, except `/sign-in`, which has tests of its own. */
function listUnvisited(paths: readonly string[]): string[] {
  const visited = new Set(paths.map((path) => path.replace(/\?.*/, '')));
  const routes = listConsoleRoutes().filter((route) => route !== '/sign-in');
  // A fixed path, such as `/keys/new`, does not visit a route with a variable part.
  const others = [...visited].filter((path) => !routes.includes(path));
  return routes.filter((route) => {
    const pattern = new RegExp(`^${route.replaceAll(/\$\w+/g, '[^/]+')}$`);
    return route.includes('$') ? !others.some((path) => pattern.test(path)) : !visited.has(route);
  });
}
