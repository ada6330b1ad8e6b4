import type { FieldType } from '@erp-proxy/odoo/values';
import { expect, test } from 'vitest';
import { canBeUsed } from './check-query.ts';

const PLAIN: FieldType = { type: 'char', relation: null, related: null, inverse: null, computedFrom: [] };
const UNSEARCHABLE = { ...PLAIN, isUnsearchable: true } as const;
const UNSORTABLE = { ...PLAIN, isUnsortable: true } as const;

test.each([
  // Measured on 16, 18 and 19.
  ['crm.lead', 'my_activity_date_deadline', 'order', UNSORTABLE, true],
  ['crm.lead', 'activity_date_deadline', 'order', UNSORTABLE, false],
  ['crm.lead', 'my_activity_date_deadline', 'groupby', { ...PLAIN, isUngroupable: true }, false],
  ['project.task', 'personal_stage_type_id', 'groupby', { ...PLAIN, isUngroupable: true }, true],
  ['project.task', 'personal_stage_id', 'groupby', { ...PLAIN, isUngroupable: true }, false],
  // As 19 describes them,
  ['account.move', 'status_in_payment', 'domain', UNSEARCHABLE, true],
  ['crm.lead', 'company_currency', 'domain', UNSEARCHABLE, true],
  ['hr.job', 'is_favorite', 'domain', UNSEARCHABLE, false],
  // and the versions before, which leave such a condition out.
  ['account.move', 'status_in_payment', 'domain', { ...UNSEARCHABLE, isUnsortable: true }, false],
  ['crm.lead', 'company_currency', 'domain', { ...UNSEARCHABLE, isUnsortable: true }, false],
] as const)('%s %s can be used in %s: %o %s', (model, field, clause, type, isUsable) => {
  expect(canBeUsed({ model, field, clause }, type)).toBe(isUsable);
});
