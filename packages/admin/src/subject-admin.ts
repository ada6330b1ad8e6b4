/** The operations of an administrator on denied subjects of identity providers. */
import type { DeniedSubjectView } from '@erp-proxy/contract';
import { PERSON_ID, readIssuer } from '@erp-proxy/control/keys';
import type { DeniedSubject } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import type { DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showTime } from './time.ts';

type SubjectAdmin = Pick<Admin, 'listDeniedSubjects' | 'denySubject' | 'allowSubject'>;

export function createSubjectAdmin(
  { deniedSubjects, issuers, clock }: AdminDeps,
  describeAction: DescribeAction,
): SubjectAdmin {
  return {
    listDeniedSubjects: (page) =>
      readPage(page, {
        place: z.string().regex(PERSON_ID),
        placeOf: ({ id }) => id,
        list: (after, limit) => deniedSubjects.list(after, limit),
        show,
      }),

    async denySubject({ id }) {
      if (!PERSON_ID.test(id)) {
        throw createAdminError(
          400,
          'id is <issuer>/<subject>, as the log and the audit show it, e.g. corp/3f6c.',
        );
      }
      const issuer = readIssuer(id);
      // With a misspelt issuer, the tokens would stay valid although the answer says that they are denied.
      if (!issuers.includes(issuer)) {
        const known = issuers.length === 0 ? 'there is none' : `there is ${issuers.join(', ')}`;
        throw createAdminError(
          400,
          `Nothing of ${JSON.stringify(id)} is accepted: neither \`auth.issuers\` nor \`operators\` has a provider ${JSON.stringify(issuer)}; ${known}. Nothing was changed. A command reads the settings on its own machine, so give it those of the proxy, or call the proxy by --url.`,
        );
      }
      const subject = { id, deniedAt: clock() };
      const isNew = await deniedSubjects.deny(subject, describeAction('subject.deny', `subject ${id}`, {}));
      return show(isNew ? subject : ((await deniedSubjects.find(id)) ?? subject));
    },

    async allowSubject(id) {
      const isDone =
        PERSON_ID.test(id) &&
        (await deniedSubjects.allow(id, describeAction('subject.allow', `subject ${id}`, {})));
      if (!isDone) throw createAdminError(404, `The subject ${JSON.stringify(id)} is not denied.`);
    },
  };
}

function show({ id, deniedAt }: DeniedSubject): DeniedSubjectView {
  return { id, denied_at: showTime(deniedAt) };
}
