/**
 * `node chaos/subscriptions.ts [rounds] [seed] [store url]`: kills and stops three proxies that work twelve
 * subscriptions, and cuts them off from PostgreSQL. Checks that nothing is lost and that the versions of each record
 * arrive in order. Exits with 1 if they do not.
 */
import { runKillRounds } from '../packages/server/test/subscriptions/kill-rounds.ts';

const [rounds = '200', seed = String(Date.now() % 1_000_000), storeUrl] = process.argv.slice(2);
const report = await runKillRounds({
  rounds: Number(rounds),
  seed: Number(seed),
  storeUrl,
  replicas: 3,
  subscriptions: 12,
  events: storeUrl === undefined ? ['kill', 'stop'] : ['kill', 'stop', 'cut'],
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.faults.length > 0 ? 1 : 0;
