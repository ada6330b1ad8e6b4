import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { CLIENT_CONFIGURATIONS } from './client-configurations.ts';

const page = readFileSync(new URL('../../../../../docs/mcp.md', import.meta.url), 'utf8');

test.each(CLIENT_CONFIGURATIONS.map((row) => [row.name, row] as const))(
  'docs/mcp.md has the configuration of %s, and the place for it',
  (name, { place, render }) => {
    const text = render({ url: 'http://127.0.0.1:8787', keyFile: undefined });
    expect(page).toContain(`\`\`\`${name === 'codex' ? 'toml' : 'json'}\n${text}\`\`\``);
    expect(page.replaceAll('`', '').replace(/\s+/g, ' ')).toContain(place.split(/[;(,]/)[0]!.trim());
    if (name !== 'codex') expect(parseYaml(text)).toEqual(JSON.parse(text));
  },
);

test('a program of the client gets the file of the key, if there is one', () => {
  for (const name of ['claude-desktop', 'zed']) {
    const { render } = CLIENT_CONFIGURATIONS.find((row) => row.name === name)!;
    const text = render({ url: 'https://erp.example.com', keyFile: '/run/secrets/agent.key' });
    expect(text).toContain('"--key-file"');
    expect(text).not.toContain('ERP_PROXY_KEY');
  }
});
