/** `subjects …`: denies subjects of identity providers, and allows them again. */
import type { DeniedSubjectView } from '@erp-proxy/contract';
import { type Command, printJson } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, listAll, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<DeniedSubjectView>[] = [
  { heading: 'SUBJECT', show: ({ id }) => id },
  { heading: 'DENIED', show: ({ denied_at }) => denied_at },
];

export const subjectsDenyCommand: Command = {
  name: 'subjects deny',
  arguments: ['<issuer/subject>'],
  summary: 'Refuse all tokens of a subject of an identity provider, within a second.',
  options: ADMIN_OPTIONS,
  async run(input) {
    const [id = ''] = input.arguments;
    return useAdmin(input, async (admin) => {
      const subject = await admin.denySubject({ id });
      if (input.isSet('json')) printJson(input, subject);
      else input.print(`Tokens of ${subject.id} are refused.\n`);
      return 0;
    });
  },
};

export const subjectsAllowCommand: Command = {
  name: 'subjects allow',
  arguments: ['<issuer/subject>'],
  summary: 'Accept the tokens of a denied subject again.',
  options: ADMIN_OPTIONS,
  async run(input) {
    const [id = ''] = input.arguments;
    return useAdmin(input, async (admin) => {
      await admin.allowSubject(id);
      if (input.isSet('json')) printJson(input, { id });
      else input.print(`Tokens of ${id} are accepted again.\n`);
      return 0;
    });
  },
};

export const subjectsListCommand: Command = {
  name: 'subjects list',
  arguments: [],
  summary: 'List the denied subjects.',
  options: ADMIN_OPTIONS,
  run: (input) =>
    useAdmin(input, async (admin) => {
      const subjects = listAll(admin.listDeniedSubjects, {});
      await printList(input, subjects, COLUMNS, 'No subject is denied.');
      return 0;
    }),
};
