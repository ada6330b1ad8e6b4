/**
 * `node chaos/jobs.ts [kills] [seed] [store url]`: kills proxies that run jobs, and checks that none is lost, that no
 * write runs twice, and that each end is reported. Exits with 1 otherwise.
 */
import { runKillRounds } from '../packages/server/test/jobs/kill-rounds.ts';

const [kills = '200', seed = String(Date.now() % 1_000_000), store] = process.argv.slice(2);
const report = await runKillRounds(Number(kills), Number(seed), store);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.faults.length > 0 ? 1 : 0;
