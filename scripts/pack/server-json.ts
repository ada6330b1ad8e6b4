/**
 * Makes server.json, with which the registry of MCP lists the package of the server. Agents start the package as
 * `erp-proxy mcp`, which passes their requests on to a proxy. The registry gives a name only to the owner of its
 * namespace, so the name comes from the repository.
 */
import type { Manifest } from './manifest.ts';
import type { Repository } from './repository.ts';

const GITHUB = /^git\+(https:\/\/github\.com\/([\w.-]+)\/[\w.-]+)\.git$/;

/** The name in the registry. Null for a repository that is not on GitHub, with which the registry knows no owner. */
export function nameForRegistry(
  repository: Repository | null,
  { name }: Pick<Manifest, 'name'>,
): string | null {
  const [, , owner] = GITHUB.exec(repository?.url ?? '') ?? [];
  return owner === undefined ? null : `io.github.${owner}/${name}`;
}

/** Null if the server has no name in the registry. */
export function makeServerJson(repository: Repository | null, manifest: Manifest): object | null {
  const name = nameForRegistry(repository, manifest);
  if (name === null || repository === null) return null;
  const { version } = manifest;
  const [, url] = GITHUB.exec(repository.url) as RegExpExecArray;
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name,
    title: 'Odoo through erp-proxy',
    description: 'Tools for Odoo 14 to 19 through your erp-proxy: policies per key, approvals, audit.',
    repository: { url, source: 'github', subfolder: repository.directory },
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: manifest.name,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
        environmentVariables: [
          {
            name: 'ERP_PROXY_URL',
            description: 'Address of your erp-proxy, such as https://erp.example.com.',
            isRequired: true,
          },
          {
            name: 'ERP_PROXY_KEY',
            description: 'A client key of your erp-proxy.',
            isRequired: true,
            isSecret: true,
          },
        ],
      },
    ],
  };
}
