/**
 * A proxy in a process of its own that delivers the subscriptions of a store with short times, for tests that kill it.
 * Prints `ready` once it serves.
 */

import { createLogger } from '@erp-proxy/observe/log';
import { createApp } from '../../src/app/app.ts';
import { makeSettings } from '../harness.ts';

const [store = '', allow = ''] = process.argv.slice(2);
const app = await createApp({
  settings: makeSettings({
    'http.port': '0',
    'http.shutdownGraceMs': '0',
    'store.url': store,
    'egress.allow': allow,
    'upstream.protocol': 'jsonrpc',
    'vault.masterKey': Buffer.alloc(32, 7).toString('base64'),
  }),
  // Each process has its own `user-agent`.
  version: `0.0.${process.pid}`,
  logger: createLogger('error'),
  subscriptionTimes: { leaseMs: 150, claimMs: 400, sendMs: 200, secondMs: 0.2, upkeepMs: 1000 },
});
await app.listen();
process.stdout.write('ready\n');
