/** A made-up Python traceback: real ones hold server paths and SQL, so that a leak of `debug` shows (FACTS 2.3). */
import type { Fault } from '../orm/fault.ts';

export function printTraceback(fault: Fault): string {
  const where = [
    ['/opt/odoo/odoo/http.py', 1954, '_transactioning', 'return service_model.retrying(func, env=self.env)'],
    ['/opt/odoo/odoo/service/model.py', 137, 'retrying', 'result = func()'],
    ['/opt/odoo/odoo/api.py', 517, 'call_kw', 'result = getattr(recs, name)(*args, **kwargs)'],
    ['/opt/odoo/odoo/sql_db.py', 347, 'execute', 'res = self._obj.execute(query, params)'],
  ] as const;
  const frames = where.map(
    ([file, line, name, code]) => `  File "${file}", line ${line}, in ${name}\n    ${code}\n`,
  );
  return `Traceback (most recent call last):\n${frames.join('')}${fault.name.replace('builtins.', '')}: ${fault.message}\n`;
}
