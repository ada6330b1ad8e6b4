/** Creates failed checks. */
import type { ExaminationCheck } from '@erp-proxy/contract';

export function fail(name: ExaminationCheck['name'], text: string): ExaminationCheck {
  return { name, state: 'failed', text };
}

export function failDatabase(db: string): ExaminationCheck {
  return fail('database', `the server has no database ${db}, or does not show it; check the name`);
}
