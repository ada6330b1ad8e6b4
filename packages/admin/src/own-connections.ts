/**
 * The operations of a person on the connections that are their own. The person is the one who signed in, and no input
 * names another. Texts are for the person, and show neither keys nor settings of the proxy.
 */
import type {
  ActorView,
  ConnectableView,
  ConnectionCheck,
  ConnectionInput,
  Examination,
  OwnConnections,
  OwnConnectionView,
} from '@erp-proxy/contract';
import type { ConnectionRecord, Connections, NewConnection } from '@erp-proxy/control/connections';
import type { Instance, Instances } from '@erp-proxy/control/instances';
import { isApiKeyShaped } from '@erp-proxy/odoo/json2';
import type { Examinations } from './admin.ts';
import { createAdminError, createInputError } from './admin-error.ts';
import { type Attempts, findFailed } from './attempts.ts';
import {
  type AuditedActor,
  compareMembers,
  createActionDescriber,
  type DescribeAction,
  SECRET,
} from './audited-actions.ts';
import { describeRemoval, listMembers, nameConnection } from './connection-admin.ts';
import { toAdminError } from './to-admin-error.ts';
import { showConnection } from './views.ts';

/** Methods reject with an AdminError. */
export interface OwnConnectionOperations {
  list(): Promise<OwnConnections>;
  get(instance: string): Promise<ConnectableView>;
  /** Checks login and key at the server, and stores them for the person. A second time replaces them. */
  connect(instance: string, input: ConnectionInput): Promise<OwnConnectionView>;
  /** Whether Odoo still accepts the stored key. */
  test(instance: string): Promise<ConnectionCheck>;
  remove(instance: string): Promise<void>;
}

/** Credentials of a person: `login` finds the user, or `userId` names it. */
export type PersonCredentials = { apiKey: string } & (
  | { login: string; userId: null }
  | { login: null; userId: number }
);

export interface OwnConnectionDeps {
  connections: Connections;
  instances: Pick<Instances, 'find'>;
  audit: Parameters<typeof createActionDescriber>[0];
  /** Limits the checks that run at a time, for all persons together. */
  examinations: Examinations;
  attempts: Attempts;
  examine: (instance: Instance, credentials: PersonCredentials) => Promise<Examination>;
}

const LOGIN = /^[^\p{Cc}]{1,256}$/u;
/** More than one has in a lifetime. */
const CONNECTIONS_MAX = 500;

export function createOwnConnections(
  deps: OwnConnectionDeps,
  actor: AuditedActor & Pick<ActorView, 'id' | 'name'>,
): OwnConnectionOperations {
  const { connections, instances, audit } = deps;
  const person = actor.id;
  const describeAction = createActionDescriber(audit, actor);

  async function findInstance(name: string): Promise<Instance> {
    const instance = await instances.find(name);
    if (instance !== null && instance.identity === 'person') return instance;
    throw createAdminError(404, `There is no instance ${JSON.stringify(name)} to which persons connect.`);
  }

  async function findOwn(instance: Instance): Promise<ConnectionRecord> {
    const connection = await connections.get(person, instance.name);
    if (connection !== null) return connection;
    throw createAdminError(404, `You have no connection to ${instance.name}.`);
  }

  async function show(connection: ConnectionRecord): Promise<OwnConnectionView> {
    const instance = await instances.find(connection.instance);
    return showConnection(connection, instance);
  }

  const operations: OwnConnectionOperations = {
    async list() {
      const own = await connections.list({ after: null, limit: CONNECTIONS_MAX, person });
      return { person, name: actor.name, connections: await Promise.all(own.map(show)) };
    },

    async get(name) {
      const instance = await findInstance(name);
      const connection = await connections.get(person, name);
      return {
        instance: name,
        url: instance.url,
        db: instance.db,
        connection: connection && showConnection(connection, instance),
      };
    },

    async connect(name, { login, api_key: apiKey }) {
      const instance = await findInstance(name);
      const accepted = await acceptLogin(deps, { instance, login, apiKey, whose: person });
      const made = await storeConnection(connections, instance, { ...accepted, person }, describeAction);
      return show(made);
    },

    async test(name) {
      const instance = await findInstance(name);
      await findOwn(instance);
      const connection = await connections.find(person, instance);
      if (connection === null) return { ok: false, text: MOVED };
      const { userId, apiKey } = connection;
      const examination = await check(deps, instance, { login: null, userId, apiKey }, person);
      const failed = findFailed(examination);
      const { user } = examination;
      const accepted = `Odoo accepts the key of ${user === null ? connection.login : `${user.name} (${user.login})`}.`;
      return failed === null
        ? { ok: true, text: accepted }
        : { ok: false, text: explainFailed(failed, 'The key ') };
    },

    async remove(name) {
      const connection = await connections.get(person, name);
      const isRemoved =
        connection !== null &&
        (await connections.remove({ instance: name, person }, describeRemoval(connection, describeAction)));
      if (!isRemoved) throw createAdminError(404, `You have no connection to ${JSON.stringify(name)}.`);
    },
  };
  return convertErrors(operations);
}

type CheckDeps = Pick<OwnConnectionDeps, 'examinations' | 'attempts' | 'examine'>;

/** Asks Odoo about credentials, within the limits of attempts. */
async function check(
  { examinations, attempts, examine }: CheckDeps,
  instance: Instance,
  credentials: PersonCredentials,
  whose: string,
): Promise<Examination> {
  const end = attempts.begin(whose, instance.url);
  let examination: Examination | null = null;
  try {
    examination = await examinations.run(() => examine(instance, credentials));
    return examination;
  } finally {
    end(examination);
  }
}

/** A login and a key that Odoo has accepted. */
export interface AcceptedLogin extends Pick<NewConnection, 'login' | 'userId' | 'apiKey' | 'keyExpiresAt'> {
  /** Name of the user in Odoo. */
  readonly userName: string;
}

/**
 * Checks login and key at the server of the instance. Throws an AdminError if Odoo does not accept them. `whose`: for
 * whom refused keys are counted.
 */
export async function acceptLogin(
  deps: CheckDeps,
  { instance, login, apiKey, whose }: { instance: Instance; login: string; apiKey: string; whose: string },
): Promise<AcceptedLogin> {
  checkInput(login, apiKey);
  const examination = await check(deps, instance, { login, userId: null, apiKey }, whose);
  const { user, key } = readAccepted(examination);
  return {
    login: user.login,
    userId: user.id,
    userName: user.name,
    apiKey,
    keyExpiresAt: key?.expires_at == null ? null : Date.parse(key.expires_at),
  };
}

/** Stores the connection of a person. Throws an AdminError if the instance was removed meanwhile. */
export async function storeConnection(
  connections: Pick<Connections, 'put'>,
  instance: Instance,
  { userName: _, ...connection }: AcceptedLogin & Pick<NewConnection, 'person'>,
  describeAction: DescribeAction,
): Promise<ConnectionRecord> {
  const made = await connections.put(instance, connection, (before, after) =>
    describeAction(
      before === null ? 'connection.create' : 'connection.renew',
      nameConnection(after),
      {
        ...compareMembers(before === null ? {} : listMembers(before), listMembers(after)),
        api_key: { from: before === null ? null : SECRET, to: SECRET },
      },
      [after.instance],
    ),
  );
  if (made === null) throw createAdminError(409, 'The instance was removed meanwhile.');
  return made;
}

function convertErrors(operations: OwnConnectionOperations): OwnConnectionOperations {
  const converted = Object.entries(operations).map(([name, run]) => [
    name,
    async (...given: unknown[]) => {
      try {
        return await run(...given);
      } catch (error) {
        throw toAdminError(error);
      }
    },
  ]);
  return Object.fromEntries(converted) as OwnConnectionOperations;
}

function checkInput(login: string, apiKey: string): void {
  const invalid = [
    ...(LOGIN.test(login) ? [] : [{ path: 'login', message: 'must be the login of your user in Odoo' }]),
    ...(isApiKeyShaped(apiKey)
      ? []
      : [
          {
            path: 'api_key',
            message: 'must be an API key of Odoo, which has 40 digits and letters a to f; a password is none',
          },
        ]),
  ];
  if (invalid.length > 0) throw createInputError(invalid);
}

/** Throws an AdminError if Odoo does not accept the key, or if it is that of another user than the login. */
function readAccepted(examination: Examination) {
  const failed = findFailed(examination);
  if (failed !== null) {
    const text = explainFailed(failed, '');
    if (failed.name === 'user' || failed.name === 'key')
      throw createInputError([{ path: 'api_key', message: text }]);
    throw createAdminError(409, text);
  }
  const { user, key } = examination;
  if (user === null) {
    throw createAdminError(
      409,
      'Odoo does not let this user read its own name, so that the proxy cannot tell whose key this is.',
    );
  }
  return { user, key };
}

const MOVED =
  'The address, database or certificates of this instance were changed after you connected, so that your key is not used any more. Connect again.';
const NOT_REACHED = 'Odoo could not be asked';

/** `key`: the subject of a sentence about the key, which is empty if the sentence follows the name of its member. */
function explainFailed({ name, text }: Examination['checks'][number], key: '' | 'The key '): string {
  switch (name) {
    case 'user':
    case 'key':
      return `${key}is not accepted: ${text}. Odoo also says so if the user is archived.`;
    case 'database':
      return `${NOT_REACHED}: the server does not show the database of this instance. Tell the operator of the proxy.`;
    case 'egress':
      return `${NOT_REACHED}: the proxy is not allowed to reach its server. Tell the operator of the proxy.`;
    default:
      return `${NOT_REACHED} (${name}: ${text}). Try again later, or tell the operator of the proxy.`;
  }
}
