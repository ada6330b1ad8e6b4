/** The operations of an administrator on persons who have signed in by the identity provider. */
import type { PersonView } from '@erp-proxy/contract';
import { PERSON_ID } from '@erp-proxy/control/keys';
import type { OperatorRecord } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Admin, AdminDeps } from './admin.ts';
import { createAdminError } from './admin-error.ts';
import type { DescribeAction } from './audited-actions.ts';
import { readPage } from './page.ts';
import { showTime } from './time.ts';

type PersonAdmin = Pick<Admin, 'listPersons' | 'signOutPerson'>;

export function createPersonAdmin(
  { persons, findGrant, deniedSubjects, clock }: AdminDeps,
  describeAction: DescribeAction,
): PersonAdmin {
  function show({ id, name, granted, confirmedAt }: OperatorRecord, isDenied: boolean): PersonView {
    const found = granted === null ? null : findGrant(granted);
    const grant = found === 'unknown' ? null : found;
    return {
      id,
      name,
      state: isDenied ? 'denied' : granted === null ? 'refused' : found === 'unknown' ? 'unknown' : 'active',
      role: grant?.role ?? null,
      instances: grant === null ? [] : grant.instances && [...grant.instances],
      confirmed_at: showTime(confirmedAt),
    };
  }

  return {
    async listPersons(page) {
      const { items, next } = await readPage(page, {
        place: z.string().regex(PERSON_ID),
        placeOf: ({ id }: OperatorRecord) => id,
        list: (after, limit) => persons.list(after, limit),
        show: (person) => person,
      });
      const found = await deniedSubjects.findAll(items.map(({ id }) => id));
      const denied = new Set(found.map(({ id }) => id));
      return { items: items.map((person) => show(person, denied.has(person.id))), next };
    },

    async signOutPerson(id) {
      const isKnown =
        PERSON_ID.test(id) &&
        (await persons.endSessions(id, clock(), describeAction('person.sign-out', `person ${id}`, {})));
      if (!isKnown) throw createAdminError(404, `${JSON.stringify(id)} has never signed in here.`);
    },
  };
}
