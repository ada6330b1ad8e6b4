/** `subjects …`: denies subjects of identity providers, and allows them again. */
import type { DeniedSubjectView } from '@erp-proxy/contract';
import { type Command, printResult } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<DeniedSubjectView>[] = [
  { heading: 'SUBJECT', show: ({ id }) => id },
  { heading: 'DENIED', show: ({ denied_at }) => denied_at },
];

export const subjectsCommands: readonly Command[] = [
  {
    name: 'subjects deny',
    arguments: ['<issuer/subject>'],
    summary: 'Refuse all tokens of a subject of an identity provider, within a second.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const subject = await admin.denySubject({ id: input.arguments[0] ?? '' });
        return printResult(input, subject, `Tokens of ${subject.id} are refused.\n`);
      }),
  },
  {
    name: 'subjects allow',
    arguments: ['<issuer/subject>'],
    summary: 'Accept the tokens of a denied subject again.',
    options: ADMIN_OPTIONS,
    run: (input) =>
      useAdmin(input, async (admin) => {
        const [id = ''] = input.arguments;
        await admin.allowSubject(id);
        return printResult(input, { id }, `Tokens of ${id} are accepted again.\n`);
      }),
  },
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
