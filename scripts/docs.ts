/**
 * Writes every generated page. With `--check` it writes nothing, lists the stale pages, and fails if there are any.
 * Each page has a render function beside the data that it shows.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { renderMetricsMarkdown } from '@erp-proxy/observe/metrics/page';
import { renderSensitiveMethods } from '@erp-proxy/odoo/sensitive/page';
import { COMMANDS } from '../packages/server/src/cli/commands.ts';
import { renderCliMarkdown } from '../packages/server/src/cli/help.ts';
import { renderExampleYaml, renderSettingsMarkdown } from '../packages/server/src/config/describe.ts';
import { renderActions } from './actions.ts';
import { renderErrors } from './errors.ts';
import { renderRoles } from './roles.ts';

interface Page {
  /** The path of the page, relative to the root of the repository. */
  path: string;
  render: () => string;
}

const PAGES: Page[] = [
  { path: 'docs/actions.md', render: renderActions },
  { path: 'docs/cli.md', render: () => renderCliMarkdown(COMMANDS) },
  { path: 'docs/errors.md', render: renderErrors },
  { path: 'docs/metrics.md', render: renderMetricsMarkdown },
  { path: 'docs/roles.md', render: renderRoles },
  { path: 'docs/sensitive-methods.md', render: renderSensitiveMethods },
  { path: 'docs/settings.md', render: renderSettingsMarkdown },
  { path: 'erp-proxy.example.yaml', render: renderExampleYaml },
];

const checkOnly = process.argv.includes('--check');
const stale = PAGES.filter(({ path, render }) => readPage(path) !== render());

if (checkOnly && stale.length > 0) {
  const names = stale.map(({ path }) => path).join(', ');
  process.stderr.write(`Stale: ${names}. Run "npm run docs" and commit what it writes.\n`);
  process.exitCode = 1;
} else {
  for (const { path, render } of stale) {
    writeFileSync(locatePage(path), render());
    process.stdout.write(`wrote ${path}\n`);
  }
}

function readPage(path: string): string | null {
  try {
    return readFileSync(locatePage(path), 'utf8');
  } catch {
    return null;
  }
}

function locatePage(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
