/** The routes of `/me`, for a person and what is their own: connections to Odoo, and applications. */

import type { OwnApplicationOperations, OwnConnectionOperations } from '@erp-proxy/admin';
import * as schemas from '@erp-proxy/contract/admin';
import { z } from 'zod';

export const ME_PATH = '/me';

/** The operations of one person. */
export interface OwnOperations {
  connections: OwnConnectionOperations;
  applications: OwnApplicationOperations;
}

export interface MeRoute
  extends Pick<
    schemas.AdminOperation,
    'method' | 'path' | 'summary' | 'params' | 'body' | 'answer' | 'problems'
  > {
  /** Name of the operation in generated clients. */
  id: string;
  /** Returns the body of the answer. `name`: the variable part of the path, if it has one. */
  handle(own: OwnOperations, name: string, body: unknown): Promise<unknown>;
}

const OF_INSTANCE = { path: '/connections/:instance', params: z.object({ instance: z.string() }) };

export const ME_ROUTES: readonly MeRoute[] = [
  {
    method: 'GET',
    path: '/connections',
    id: 'listOwnConnections',
    summary: 'Lists the connections to Odoo of the person who asks.',
    answer: { status: 200, schema: schemas.ownConnections },
    handle: ({ connections }) => connections.list(),
  },
  {
    ...OF_INSTANCE,
    method: 'GET',
    id: 'getOwnConnection',
    summary: 'Returns an instance to which persons connect, with the connection of the person who asks.',
    answer: { status: 200, schema: schemas.connectableView },
    problems: [404],
    handle: ({ connections }, instance) => connections.get(instance),
  },
  {
    ...OF_INSTANCE,
    method: 'POST',
    id: 'connect',
    summary:
      'Checks a login and a key at the Odoo server, and stores them for the person who asks. A second time replaces them.',
    body: schemas.connectionInput,
    answer: { status: 200, schema: schemas.ownConnectionView },
    problems: [404, 409],
    handle: ({ connections }, instance, body) =>
      connections.connect(instance, schemas.connectionInput.parse(body)),
  },
  {
    ...OF_INSTANCE,
    method: 'POST',
    path: '/connections/:instance/test',
    id: 'testOwnConnection',
    summary: 'Asks the Odoo server whether it still accepts the stored key.',
    answer: { status: 200, schema: schemas.connectionCheck },
    problems: [404],
    handle: ({ connections }, instance) => connections.test(instance),
  },
  {
    ...OF_INSTANCE,
    method: 'DELETE',
    id: 'removeOwnConnection',
    summary: 'Removes the stored key. The key in Odoo stays.',
    answer: { status: 204 },
    problems: [404],
    handle: ({ connections }, instance) => connections.remove(instance),
  },
  {
    method: 'GET',
    path: '/applications',
    id: 'listOwnApplications',
    summary: 'Lists the applications that may act as the person who asks.',
    answer: { status: 200, schema: schemas.ownApplications },
    handle: ({ applications }) => applications.list(),
  },
  {
    method: 'DELETE',
    path: '/applications/:id',
    params: z.object({ id: z.string() }),
    id: 'withdrawOwnApplication',
    summary: 'Withdraws the consent to an application. Its tokens are refused within a second.',
    answer: { status: 204 },
    problems: [404],
    handle: ({ applications }, id) => applications.withdraw(id),
  },
];
