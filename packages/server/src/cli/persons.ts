/** `persons …`: who has signed in by the identity provider of operators. */
import type { PersonView } from '@erp-proxy/contract';
import type { Command } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<PersonView>[] = [
  { heading: 'PERSON', show: ({ id }) => id },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'ROLE', show: ({ role }) => role },
  { heading: 'INSTANCES', show: ({ instances }) => instances?.join(' ') ?? null },
  { heading: 'CONFIRMED', show: ({ confirmed_at }) => confirmed_at },
  { heading: 'NAME', show: ({ name }) => name },
];

export const personsCommands: readonly Command[] = [
  {
    name: 'persons list',
    summary: 'List the persons who have signed in by the identity provider, with their roles.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, (admin) =>
        printList(input, listAll(admin.listPersons, {}), COLUMNS, 'Nobody has signed in yet.'),
      ),
  },
  adminCommand({
    name: 'persons sign-out',
    arguments: ['<issuer/subject>'],
    summary:
      'End all sessions of a person at once. The person may sign in again; to forbid it: subjects deny.',
    ask: (admin, id) => admin.signOutPerson(id).then(() => ({ id })),
    show: ({ id }) => `The sessions of ${id} have ended.\n`,
  }),
];
