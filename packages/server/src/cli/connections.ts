/** `connections …`: who is connected to which instance with a user of their own in Odoo. */
import type { ConnectionView } from '@erp-proxy/contract';
import type { Command } from './command.ts';
import { type Column, printList } from './print-list.ts';
import { ADMIN_OPTIONS, adminCommand, listAll, pickGiven, useAdmin } from './use-admin.ts';

const COLUMNS: readonly Column<ConnectionView>[] = [
  { heading: 'INSTANCE', show: ({ instance }) => instance },
  { heading: 'PERSON', show: ({ person }) => person },
  { heading: 'STATE', show: ({ state }) => state },
  { heading: 'LOGIN', show: ({ login }) => login },
  { heading: 'CREATED', show: ({ created_at }) => created_at },
  { heading: 'KEY ENDS', show: ({ key_expires_at }) => key_expires_at },
];

export const connectionsCommands: readonly Command[] = [
  {
    name: 'connections list',
    summary: 'List which persons have connected to which instances, without their keys.',
    options: {
      instance: { value: 'name', description: 'Connections to this instance.' },
      person: { value: 'issuer/subject', description: 'Connections of this person.' },
      ...ADMIN_OPTIONS,
    },
    run: (input) =>
      useAdmin(input, async (admin) => {
        const query = pickGiven({ instance: input.option('instance'), person: input.option('person') });
        const connections = listAll(admin.listConnections, query);
        return printList(input, connections, COLUMNS, 'No person has connected.');
      }),
  },
  adminCommand({
    name: 'connections remove',
    arguments: ['<instance>', '<issuer/subject>'],
    summary:
      'Remove the connection of a person. Calls on it are refused within a second; the key in Odoo stays.',
    async ask(admin, instance, { arguments: [, person = ''] }) {
      await admin.removeConnection(instance, person);
      return { instance, person };
    },
    show: ({ instance, person }) =>
      `The connection of ${person} to ${instance} is removed. The key in Odoo stays: the person removes it there.\n`,
  }),
];
