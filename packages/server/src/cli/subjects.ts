/** `subjects …`: denies subjects of identity providers, and allows them again. */
import type { DeniedSubjectView } from '@erp-proxy/contract';
import type { Command } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<DeniedSubjectView>[] = [
  { heading: 'SUBJECT', show: ({ id }) => id },
  { heading: 'DENIED', show: ({ denied_at }) => denied_at },
];

export const subjectsCommands: readonly Command[] = [
  adminCommand({
    name: 'subjects deny',
    arguments: ['<issuer/subject>'],
    summary: 'Refuse all tokens of a subject of an identity provider, within a second.',
    ask: (admin, id) => admin.denySubject({ id }),
    show: ({ id }) => `Tokens of ${id} are refused.\n`,
  }),
  adminCommand({
    name: 'subjects allow',
    arguments: ['<issuer/subject>'],
    summary: 'Accept the tokens of a denied subject again.',
    ask: (admin, id) => admin.allowSubject(id).then(() => ({ id })),
    show: ({ id }) => `Tokens of ${id} are accepted again.\n`,
  }),
  {
    name: 'subjects list',
    summary: 'List the denied subjects.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const subjects = listAll(admin.listDeniedSubjects, {});
        return printList(input, subjects, COLUMNS, 'No subject is denied.');
      }),
  },
];
