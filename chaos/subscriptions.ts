/**
 * `node chaos/subscriptions.ts [kills] [seed] [store url]`: kills proxies that work a subscription, and checks that
 * nothing is lost and that the versions of each record arrive in order. Exits with 1 if they do not.
 */
import { runKillRounds } from '../packages/server/test/subscriptions/kill-rounds.ts';

const [kills = '200', seed = String(Date.now() % 1_000_000), store] = process.argv.slice(2);
const report = await runKillRounds(Number(kills), Number(seed), store);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.faults.length > 0 ? 1 : 0;
