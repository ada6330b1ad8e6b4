/**
 * Plans the changes by which keys, instances and subscriptions match the file. Never removes anything. Pure: reads
 * neither the store nor a secret.
 */

import { isDeepStrictEqual } from 'node:util';
import type { InstanceView, KeyView, Policy, SubscriptionInput, SubscriptionView } from '@erp-proxy/contract';
import type { KeyFileMembers } from '@erp-proxy/contract/admin';
import { findRedirection, InputError, readInput } from '@erp-proxy/control/instances';
import { readInput as readSubscription } from '@erp-proxy/data/subscriptions/members';
import { isObject } from '@erp-proxy/json';
import { LOSS_MESSAGE, losesPublishable } from '@erp-proxy/policy/parse';
import type {
  Configuration,
  InstanceMembers,
  LocatedSecret,
  SubscriptionMembers,
  WantedInstance,
  WantedKey,
  WantedSubscription,
} from './configuration.ts';
import type { LineError } from './document.ts';
import { explainUnreadable } from './explain-unreadable.ts';
import { describeInstance, describeKey, describeSubscription } from './members.ts';

/** The keys, instances and subscriptions of the store that the file names. */
export interface Present {
  /** Active keys, by name. */
  keys: ReadonlyMap<string, readonly KeyView[]>;
  instances: ReadonlyMap<string, InstanceView>;
  subscriptions: ReadonlyMap<string, SubscriptionView>;
}

export interface PlanOptions {
  /** True to create missing keys. */
  createsKeys: boolean;
  /** True to write the Odoo keys of existing instances again. */
  updatesSecrets: boolean;
}

export interface Step {
  kind: 'add' | 'change' | 'keep';
  /** Name for people: `key <name>`, `instance <name>` or `subscription <name>`. */
  target: string;
  changes: Difference;
  action: Action;
  /** Set if the change replaces an unreadable stored policy: the text that stands for it. */
  replacesUnreadable?: string;
}

/** An update applies to one version only: `version` of the object that was created at `created_at`. */
export type Action =
  | { do: 'nothing' }
  | { do: 'create key'; name: string; members: KeyFileMembers }
  | { do: 'update key'; id: string; version: number; created_at: string; members: KeyFileMembers }
  | { do: 'create subscription'; input: SubscriptionInput }
  | {
      do: 'update subscription';
      name: string;
      version: number;
      created_at: string;
      members: SubscriptionMembers;
    }
  | { do: 'create instance'; name: string; members: FullMembers; secret: LocatedSecret | null }
  | {
      do: 'update instance';
      name: string;
      version: number;
      created_at: string;
      members: InstanceMembers;
      /** The new Odoo key; null: the stored key stays. */
      secret: LocatedSecret | null;
    };

/** Members of an instance, including all that every instance needs. */
export type FullMembers = InstanceMembers & Required<Pick<InstanceMembers, 'url' | 'db'>>;

/** Shown instead of a secret, and used in its place while the other members are checked. */
const SECRET = '(secret)';

export function makePlan(
  { keys, instances, subscriptions }: Configuration,
  present: Present,
  options: PlanOptions,
): { steps: Step[] } | { errors: LineError[] } {
  const planned = [
    ...instances.flatMap((wanted) => {
      const view = present.instances.get(wanted.name);
      return view === undefined ? planNewInstance(wanted) : planInstance(wanted, view, options);
    }),
    ...keys.flatMap((wanted) => planKeys(wanted, present.keys.get(wanted.name) ?? [], options)),
    // Subscriptions come last: they name instances and keys, which must exist first.
    ...subscriptions.flatMap((wanted) => planSubscription(wanted, present.subscriptions.get(wanted.name))),
  ];
  const errors = planned.filter((step) => 'line' in step);
  return errors.length > 0 ? { errors } : { steps: planned.filter((step) => 'kind' in step) };
}

function planKeys(
  { line, name, members }: WantedKey,
  present: readonly KeyView[],
  { createsKeys }: PlanOptions,
): (Step | LineError)[] {
  if (present.length > 0) {
    return present.map((view) => {
      const { id, version, created_at, policy } = view;
      const unreadable = policy !== null && 'unreadable' in policy ? explainUnreadable(policy) : null;
      const before = describeKey({ ...view, policy: policy as Policy | null });
      if (members.for !== undefined && members.for !== view.for) {
        const message = `key "${name}" (${id}): \`for\` never changes; take another name for a key of another person`;
        return { line, message };
      }
      if (unreadable === null && losesPublishable(before.policy, members.policy)) {
        return { line, message: `key "${name}" (${id}): ${LOSS_MESSAGE}` };
      }
      const shown = unreadable === null ? before : { ...before, policy: unreadable };
      const action = { do: 'update key', id, version, created_at, members } as const;
      const step = makeStep(`key ${name} (${id})`, findDifference(shown, { ...before, ...members }), action);
      return unreadable === null ? step : { ...step, replacesUnreadable: unreadable };
    });
  }
  if (createsKeys) {
    const changes = findDifference({}, members);
    return [{ kind: 'add', target: `key ${name}`, changes, action: { do: 'create key', name, members } }];
  }
  const message = `there is no active key "${name}"; make it with erp-proxy keys create, or here with --create-keys`;
  return [{ line, message }];
}

function planNewInstance({ line, name, members, secret }: WantedInstance): (Step | LineError)[] {
  const isForPersons = members.identity === 'person' && secret === null;
  const apiKey = isForPersons ? {} : { api_key: SECRET };
  const errors = findInputErrors(() => readInput({ ...members, name, ...apiKey }));
  if (secret === null && !isForPersons)
    errors.push('`api_key` is needed, since it is not there yet: { env: NAME } or { file: ./path }');
  if (!isFull(members) || errors.length > 0) {
    return errors.map((error) => ({ line, message: `instance "${name}": ${error}` }));
  }
  const changes = findDifference({}, { ...members, ...apiKey });
  const action = { do: 'create instance', name, members, secret } as const;
  return [{ kind: 'add', target: `instance ${name}`, changes, action }];
}

function planInstance(
  { line, name, members, secret }: WantedInstance,
  view: InstanceView,
  { updatesSecrets }: PlanOptions,
): Step | LineError {
  const { key_expires_at, ...compared } = members;
  const before: InstanceMembers = describeInstance(view);
  const changes = findDifference(before, { ...before, ...compared });
  const { identity = view.identity } = compared;
  const redirection = identity === 'shared' ? findNeed(view, compared) : null;
  if (redirection === 'identity' && secret === null) {
    return { line, message: `instance "${name}": with the identity \`shared\` it needs \`api_key\`` };
  }
  if (redirection !== null && secret === null) {
    const message = `instance "${name}": the new \`${redirection}\` could let another server have the stored key: give \`api_key\` with it`;
    return { line, message };
  }
  const writtenSecret = redirection !== null || updatesSecrets ? secret : null;
  const written = Object.fromEntries(Object.entries(compared).filter(([member]) => member in changes));
  if (writtenSecret !== null) {
    changes['api_key'] = { from: SECRET, to: SECRET };
    // The expiry is one of the Odoo key and is written with it only: an expiry that the proxy learned from Odoo stays.
    if (key_expires_at !== undefined) written['key_expires_at'] = key_expires_at;
  }
  return makeStep(`instance ${name}`, changes, {
    do: 'update instance',
    name,
    version: view.version,
    created_at: view.created_at,
    members: written,
    secret: writtenSecret,
  });
}

/** The change because of which the Odoo key must be given; null if there is none. */
function findNeed(view: InstanceView, compared: InstanceMembers) {
  return view.identity === 'person' ? 'identity' : findRedirection(view, compared);
}

function planSubscription(
  { line, name, members }: WantedSubscription,
  view: SubscriptionView | undefined,
): (Step | LineError)[] {
  if (view !== undefined) {
    const before: SubscriptionMembers = describeSubscription(view);
    const changes = findDifference(before, { ...before, ...members });
    const written = Object.fromEntries(
      Object.entries(members).filter(([member]) =>
        Object.keys(changes).some((path) => path.split(/[.[]/)[0] === member),
      ),
    );
    const { version, created_at } = view;
    const action = { do: 'update subscription', name, version, created_at, members: written } as const;
    return [makeStep(`subscription ${name}`, changes, action)];
  }
  const input = { ...members, name } as SubscriptionInput;
  const errors = findInputErrors(() => readSubscription(input));
  if (errors.length > 0)
    return errors.map((error) => ({ line, message: `subscription "${name}": ${error}` }));
  const changes = findDifference({}, members);
  return [
    { kind: 'add', target: `subscription ${name}`, changes, action: { do: 'create subscription', input } },
  ];
}

function makeStep(target: string, changes: Difference, action: Action): Step {
  if (Object.keys(changes).length > 0) return { kind: 'change', target, changes, action };
  return { kind: 'keep', target, changes, action: { do: 'nothing' } };
}

function findInputErrors(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.invalidMembers.map(({ path, message }) => `\`${path}\` ${message}`);
  }
}

function isFull(members: InstanceMembers): members is FullMembers {
  return members.url !== undefined && members.db !== undefined;
}

/** Changes by the path of the member, e.g. `policy.models["res.partner"]`. A missing member is undefined. */
type Difference = Record<string, { from: unknown; to: unknown }>;

/** Compares two objects by their members, in any order, and lists as a whole. */
function findDifference(from: unknown, to: unknown, path = ''): Difference {
  if (isDeepStrictEqual(from, to)) return {};
  if (!isObject(from) || !isObject(to)) return { [path]: { from, to } };
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.assign(
    {},
    ...[...names].map((name) => findDifference(from[name], to[name], joinPath(path, name))),
  );
}

function joinPath(path: string, name: string): string {
  if (!/^\w+$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
