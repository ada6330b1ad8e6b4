/** A proxy in a process of its own that runs the jobs of a store with short times, for tests that kill it. */

import { createLogger } from '@erp-proxy/observe/log';
import { createApp } from '../../src/app/app.ts';
import { makeSettings } from '../harness.ts';
import { SHORT_TIMES } from '../subscriptions/stage.ts';
import { MASTER_KEY } from './job-stage.ts';

const [store = '', allow = ''] = process.argv.slice(2);
const app = await createApp({
  settings: makeSettings({
    'http.port': '0',
    'http.shutdownGraceMs': '0',
    'store.url': store,
    'vault.masterKey': MASTER_KEY,
    'egress.allow': allow,
    'upstream.protocol': 'jsonrpc',
    'jobs.clientConcurrency': '8',
    'console.enabled': 'false',
  }),
  version: '0.0.0',
  logger: createLogger('error'),
  jobTimes: { leaseMs: 600, lookMs: 50, pruneMs: 1000 },
  subscriptionTimes: SHORT_TIMES,
});
const url = await app.listen();
process.stdout.write(`ready ${url}\n`);
