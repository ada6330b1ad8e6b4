import { expect, test } from 'vitest';
import { listCredentialFields } from './credential-fields.ts';
import { findSensitivity } from './sensitive-methods.ts';

test('the fields with credentials are those of models that a policy need not name for reads', () => {
  const fields = listCredentialFields();
  for (const [model, name] of [
    ['res.users', 'microsoft_calendar_rtoken'],
    ['res.users', 'google_calendar_rtoken'],
    ['res.company', 'sms_twilio_auth_token'],
    ['res.company', 'attendance_kiosk_key'],
    // It has the key in it.
    ['res.company', 'attendance_kiosk_url'],
    ['res.company', 'l10n_ro_edi_access_token'],
    ['account.journal', 'l10n_sa_production_csid_json'],
    ['website', 'google_maps_api_key'],
    ['ir.ui.view', 'visibility_password'],
    ['website.page', 'visibility_password'],
  ] as const)
    expect(fields.get(model), name).toContain(name);
  for (const model of fields.keys()) expect(findSensitivity(model, 'read'), model).toBeNull();
  // docs/policies.md says of these that they stay readable.
  for (const model of ['sale.order', 'account.move', 'hr.employee', 'res.partner'])
    expect(fields.has(model), model).toBe(false);
});
