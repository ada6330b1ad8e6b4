/** Tests the entry of the registry of MCP. test/mcp/stdio.heavy.test.ts starts what it describes. */
import { expect, test } from 'vitest';
import { makeServerJson, nameForRegistry } from '../../../../scripts/pack/server-json.ts';
import { readText } from './deploy-files.ts';

const MANIFEST = JSON.parse(readText('packages/server/package.json'));
const at = (url: string) => ({ type: 'git', url, directory: 'packages/server' }) as const;

test('the entry describes the package of npm, in its version, and the repository', () => {
  expect(makeServerJson(at('git+https://github.com/team/erp-proxy.git'), MANIFEST)).toMatchObject({
    name: 'io.github.team/erp-proxy',
    version: MANIFEST.version,
    repository: {
      url: 'https://github.com/team/erp-proxy',
      source: 'github',
      subfolder: 'packages/server',
    },
    packages: [{ registryType: 'npm', identifier: 'erp-proxy', version: MANIFEST.version }],
  });
});

test('only the variable of the key is secret', () => {
  const entry = JSON.stringify(makeServerJson(at('git+https://github.com/team/erp-proxy.git'), MANIFEST));
  const [{ environmentVariables }] = JSON.parse(entry).packages;
  const secret = environmentVariables.filter(({ isSecret }: { isSecret?: boolean }) => isSecret);
  expect(secret.map(({ name }: { name: string }) => name)).toEqual(['ERP_PROXY_KEY']);
});

test.each([
  'git+https://git.example.com/team/erp-proxy.git',
  'git+https://github.com.example.com/team/erp-proxy.git',
  'git+https://github.com/team/group/erp-proxy.git',
])('%s has no name in the registry, and no entry', (url) => {
  expect(nameForRegistry(at(url), MANIFEST)).toBeNull();
  expect(makeServerJson(at(url), MANIFEST)).toBeNull();
});
