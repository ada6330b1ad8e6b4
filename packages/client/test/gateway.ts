/** Starts a sandbox Odoo with the real proxy in front of it, and creates clients of the proxy, for tests. */
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/src/index.ts';
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../../server/test/harness.ts';
import { type AnyModels, type Client, type ClientOptions, createClient } from '../src/index.ts';

export interface Gateway {
  odoo: Sandbox;
  proxy: RunningProxy;
  /** Creates a client with the key of the sandbox's administrator. */
  connect<Models = AnyModels>(changes?: ClientOptions): Client<Models>;
  /** Creates the same client with normalized values. */
  connectNormalized<Models = AnyModels>(): Client<Models, 'normalized'>;
  close(): Promise<void>;
}

export async function startGateway(
  version: SandboxOptions['version'] & number = 18,
  proxyOptions: ProxyOptions = {},
): Promise<Gateway> {
  const odoo = await startSandbox({ version });
  const proxy = await startProxy({
    ...proxyOptions,
    allow: [odoo.url],
    settings: { 'upstream.protocol': 'auto', ...proxyOptions.settings },
  });
  const { userId, apiKey } = odoo.users.admin;
  const options = {
    url: proxy.url,
    key: proxy.key,
    instance: { url: odoo.url, db: odoo.db, userId, apiKey },
  };
  return {
    odoo,
    proxy,
    connect: (changes) => createClient({ ...options, ...changes }),
    connectNormalized: () => createClient({ ...options, values: 'normalized' }),
    async close() {
      await proxy.close();
      await odoo.close();
    },
  };
}
