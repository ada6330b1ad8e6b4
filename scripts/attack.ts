/**
 * Attacks the policies of keys on real Odoo servers, and prints what got through:
 *
 *     npm run attack -- --odoo servers.json [--tables FOLDER [--from MODEL]] [--only TEXT]
 *
 * `servers.json` is a list of objects as in `erp_instance`: `[{"url", "db", "user_id", "api_key"}]`. The user must
 * be an administrator. The attacks create and change records, so use databases with demo data that can be dropped.
 *
 * - scripts/attack/attacks.ts has calls that reached too much before, each with the policy that must stop them.
 * - With `--tables`, each public method of each installed model is called by a key that has `*` for this model alone.
 *   FOLDER has the output of scripts/odoo-tables/read_odoo.py as `<version>.json`. `--from` continues a run that ended
 *   at a model.
 *
 * Ends with 1 if an attack got through or could not be made, and with 2 if the options are wrong.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ATTACKS } from './attack/attacks.ts';
import { callMethods } from './attack/call-methods.ts';
import { type Instance, startTarget, type Target } from './attack/target.ts';

const { values: options } = parseArgs({
  options: {
    odoo: { type: 'string' },
    tables: { type: 'string' },
    from: { type: 'string', default: '' },
    only: { type: 'string', default: '' },
  },
});
if (options.odoo === undefined) {
  console.error('Name the servers: npm run attack -- --odoo servers.json');
  process.exit(2);
}
const instances: Instance[] = JSON.parse(readFileSync(options.odoo, 'utf8'));

let failures = 0;
for (const instance of instances) {
  const target = await startTarget(instance);
  try {
    console.log(`\nOdoo ${target.version} at ${instance.url}`);
    failures += await runAttacks(target, options.only);
    if (options.tables !== undefined) failures += await callMethods(target, options.tables, options.from);
  } finally {
    await target.close();
  }
}
console.log(failures === 0 ? '\nNothing got through.' : `\n${failures} got through or could not be made.`);
process.exitCode = failures === 0 ? 0 : 1;

/** Returns the number of attacks that were not refused, or failed. */
async function runAttacks(target: Target, only: string): Promise<number> {
  let count = 0;
  for (const { name, versions: [first, last] = [14, 19], run } of ATTACKS) {
    if (!name.includes(only) || target.version < first || target.version > last) continue;
    const found = await run(target).catch((error: unknown) => `could not be made: ${String(error)}`);
    if (found === 'absent') console.log(`  -      ${name}: a module is not installed`);
    else if (found === null) console.log(`  ok     ${name}`);
    else {
      count++;
      console.log(`  FAILED ${name}: ${found}`);
    }
  }
  return count;
}
