/**
 * Prints an invented Python traceback. Like real ones it contains server paths and SQL, so that tests detect a leak of
 * `debug` (docs/odoo-facts.md#debug-traceback).
 */
import type { Fault } from '../orm/fault.ts';

type Frame = readonly [file: string, line: number, name: string, code: string];

const outer: readonly Frame[] = [
  ['odoo/http.py', 1954, '_transactioning', 'return service_model.retrying(func, env=self.env)'],
  ['odoo/service/model.py', 137, 'retrying', 'result = func()'],
  ['odoo/api.py', 517, 'call_kw', 'result = getattr(recs, name)(*args, **kwargs)'],
];
const query: Frame = ['odoo/sql_db.py', 347, 'execute', 'res = self._obj.execute(query, params)'];

export function printTraceback(fault: Fault): string {
  const frames = [...outer, ...findInner(fault)].map(
    ([file, line, name, code]) => `  File "/opt/odoo/${file}", line ${line}, in ${name}\n    ${code}\n`,
  );
  return `Traceback (most recent call last):\n${frames.join('')}${fault.name.replace('builtins.', '')}: ${fault.message}\n`;
}

/** Python raises errors about the arguments of a call in the frame of the call; other errors are raised deeper. */
function findInner({ name, place }: Fault): readonly Frame[] {
  if (place !== null) return [[place[0], 1, place[1], '…']];
  return name.startsWith('builtins.') ? [] : [query];
}
