/** The operations of an administrator on the applications that persons have allowed. No answer has a secret. */

import type { ConsentRecord } from '@erp-proxy/control/consents';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import { compareMembers, type DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showApplication } from './views.ts';

type ApplicationAdmin = Pick<Admin, 'listApplications' | 'withdrawApplication'>;

const PLACE = z.tuple([z.string(), z.string()]);

export function createApplicationAdmin(
  { consents }: Pick<AdminDeps, 'consents'>,
  describeAction: DescribeAction,
): ApplicationAdmin {
  return {
    listApplications: ({ person, ...page }) =>
      readPage(page, {
        place: PLACE,
        placeOf: (row: ConsentRecord): z.infer<typeof PLACE> => [row.person, row.id],
        list: (place, limit) =>
          consents.list({ after: place && { person: place[0], id: place[1] }, limit, person }),
        show: (row: ConsentRecord) => ({ person: row.person, ...showApplication(row) }),
      }),

    async withdrawApplication(id) {
      const consent = await consents.get(id);
      const isRemoved =
        consent !== null && (await consents.remove(id, describeWithdrawal(consent, describeAction)));
      if (!isRemoved) throw createAdminError(404, `There is no consent ${JSON.stringify(id)}.`);
    },
  };
}

/** What the audit shows of a consent. */
export type AuditedConsent = Pick<
  ConsentRecord,
  'id' | 'person' | 'name' | 'application' | 'address' | 'scopes'
>;

/** The audit record of a new consent. */
export function describeAgreement(consent: AuditedConsent, describeAction: DescribeAction) {
  return describeAction('application.allow', nameConsent(consent), compareMembers({}, listMembers(consent)));
}

/** The audit record of a withdrawn consent. `reason`: why the proxy has ended it by itself. */
export function describeWithdrawal(consent: AuditedConsent, describeAction: DescribeAction, reason?: string) {
  const members = compareMembers(listMembers(consent), reason === undefined ? {} : { reason });
  return describeAction('application.withdraw', nameConsent(consent), members);
}

function nameConsent({ person, address }: AuditedConsent): string {
  return `application ${address} of ${person}`;
}

function listMembers({ id, name, application, scopes }: AuditedConsent): object {
  return { id, name, application, scopes };
}
