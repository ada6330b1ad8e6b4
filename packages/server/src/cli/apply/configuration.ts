/**
 * Reads a configuration file with policies, keys and instances. Reports all its errors at once. Knows neither the store
 * nor the values of secrets.
 */
import type { InstanceInput, SubscriptionInput } from '@erp-proxy/contract';
import {
  INSTANCE_INPUT,
  KEY_FILE_MEMBERS,
  type KeyFileMembers,
  SUBSCRIPTION_MEMBERS,
} from '@erp-proxy/contract/admin';
import { InputError, readChanges } from '@erp-proxy/control/instances';
import { PERSON_ID } from '@erp-proxy/control/keys';
import { isKeyName, KEY_NAME_RULE } from '@erp-proxy/control/keys/format';
import { checkChanges as checkSubscription } from '@erp-proxy/data/subscriptions/members';
import { findNearestName } from '@erp-proxy/text';
import {
  findLine,
  type LineError,
  type Located,
  type LocatedMap,
  readDocument,
  toValue,
} from './document.ts';
import { createPolicies } from './policies.ts';

/** The place where a secret is read, without the secret. */
export type SecretSource = { env: string } | { file: string };

export interface LocatedSecret {
  line: number;
  source: SecretSource;
}

export type InstanceMembers = Partial<Omit<InstanceInput, 'name' | 'api_key'>>;

export interface WantedKey {
  line: number;
  name: string;
  members: KeyFileMembers;
}

export interface WantedInstance {
  line: number;
  name: string;
  /** The given members except the name and the key. Each one has been checked. */
  members: InstanceMembers;
  /** The place of the Odoo key; null if it is omitted. */
  secret: LocatedSecret | null;
}

export type SubscriptionMembers = Partial<Omit<SubscriptionInput, 'name'>>;

export interface WantedSubscription {
  line: number;
  name: string;
  /** The given members except the name. Each one has been checked. */
  members: SubscriptionMembers;
}

export interface Configuration {
  keys: WantedKey[];
  instances: WantedInstance[];
  subscriptions: WantedSubscription[];
}

const SECTIONS = ['policies', 'keys', 'instances', 'subscriptions'] as const;
/**
 * Variables of the proxy's own settings, including its master key and admin token, which must not be sent to an Odoo
 * server as a key.
 */
const OWN_VARIABLE = /^ERP_PROXY_/i;
const OWN_VARIABLE_REFUSED =
  'variables whose names begin with ERP_PROXY_ are settings of the proxy, and go to no Odoo server: give the key in another';
const KEY_NAMES = ['name', ...Object.keys(KEY_FILE_MEMBERS)];
const INSTANCE_NAMES = ['name', ...Object.keys(INSTANCE_INPUT)];
const SUBSCRIPTION_NAMES = ['name', ...Object.keys(SUBSCRIPTION_MEMBERS)];

/** `requiresEnd`: the text must end with YAML's document end marker. */
export function readConfiguration(
  text: string,
  { requiresEnd = false } = {},
): { configuration: Configuration } | { errors: LineError[] } {
  const read = readDocument(text, requiresEnd ? 'end mark' : 'line break');
  if ('errors' in read) return read;
  const errors = new Map<string, LineError>();
  // An invalid policy reports its error once for each policy that extends it. The key of the map keeps one.
  const report = (error: LineError) => errors.set(`${error.line} ${error.message}`, error);

  const sections = readMembers(read.root, 'the file', SECTIONS);
  const policies = createPolicies(readNamed(sections.get('policies')), report);
  const configuration = {
    keys: readList(sections.get('keys'), 'keys', readKey),
    instances: readList(sections.get('instances'), 'instances', readInstance),
    subscriptions: readList(sections.get('subscriptions'), 'subscriptions', readWantedSubscription),
  };
  policies.checkUnused();
  return errors.size > 0 ? { errors: [...errors.values()] } : { configuration };

  function readMembers(located: Located, what: string, known?: readonly string[]): LocatedMap['members'] {
    if (located.kind !== 'map') {
      report({ line: located.line, message: `${what} must hold members of the form "name: value"` });
      return new Map();
    }
    for (const [name, { line }] of located.members) {
      if (known === undefined || known.includes(name)) continue;
      const nearest = findNearestName(name, known);
      report({ line, message: `${what} has no member "${name}"; the nearest is "${nearest}"` });
    }
    return located.members;
  }

  function readNamed(located: Located | undefined): LocatedMap['members'] {
    return located === undefined ? new Map() : readMembers(located, 'policies');
  }

  function readList<Item extends { name: string }>(
    located: Located | undefined,
    section: string,
    readItem: (item: Located) => Item | null,
  ): Item[] {
    if (located === undefined) return [];
    if (located.kind !== 'list') {
      report({ line: located.line, message: `${section} must be a list: lines that begin with "- "` });
      return [];
    }
    const items = new Map<string, Item>();
    for (const entry of located.items) {
      const item = readItem(entry);
      if (item === null) continue;
      if (items.has(item.name)) {
        report({ line: entry.line, message: `"${item.name}" stands twice in ${section}; keep one` });
      }
      items.set(item.name, item);
    }
    return [...items.values()];
  }

  function readKey(located: Located): WantedKey | null {
    const members = readMembers(located, 'a key', KEY_NAMES);
    const name = readName(located, members, 'a key');
    const policy = members.get('policy');
    if (policy === undefined && located.kind === 'map') {
      const message =
        'a key needs `policy`: the name of one, its members, or null for a key that may do anything';
      report({ line: located.line, message });
    }
    if (policy === undefined || name === null) return null;
    const isNone = policy.kind === 'scalar' && policy.value === null;
    const person = readPerson(members.get('for'));
    return {
      line: located.line,
      name,
      members: {
        policy: isNone ? null : policies.resolve(policy),
        ...(person === undefined ? {} : { for: person }),
      },
    };
  }

  /** Undefined if the file does not say it, or not as it must be. */
  function readPerson(located: Located | undefined): string | null | undefined {
    if (located === undefined) return undefined;
    const value = located.kind === 'scalar' ? located.value : undefined;
    if (value === null || (typeof value === 'string' && PERSON_ID.test(value))) return value;
    report({ line: located.line, message: '`for` must be <issuer>/<subject>, such as corp/3f6c, or null' });
    return undefined;
  }

  function readInstance(located: Located): WantedInstance | null {
    const members = new Map(readMembers(located, 'an instance', INSTANCE_NAMES));
    const name = readName(located, members, 'an instance');
    const key = members.get('api_key');
    const secret = key === undefined ? null : readSecretSource(key);
    if (name === null || located.kind !== 'map') return null;
    const given = [...members].filter(([member]) => INSTANCE_NAMES.includes(member));
    const {
      name: _,
      api_key: __,
      ...rest
    } = Object.fromEntries(given.map(([member, value]) => [member, toValue(value)]));
    checkMembers(located, () => readChanges(rest));
    return { line: located.line, name, members: rest, secret };
  }

  function readWantedSubscription(located: Located): WantedSubscription | null {
    const members = readMembers(located, 'a subscription', SUBSCRIPTION_NAMES);
    const name = readName(located, members, 'a subscription');
    if (name === null || located.kind !== 'map') return null;
    const given = [...members].filter(([member]) => SUBSCRIPTION_NAMES.includes(member));
    const { name: _, ...rest } = Object.fromEntries(given.map(([member, value]) => [member, toValue(value)]));
    checkMembers(located, () => checkSubscription(rest));
    return { line: located.line, name, members: rest };
  }

  function checkMembers(located: Located, read: () => unknown): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      for (const { path, message } of error.invalidMembers) {
        report({ line: findLine(located, path), message: `\`${path}\` ${message}` });
      }
    }
  }

  /** The plan checks the stricter rule for instance names later, together with the other members of a new instance. */
  function readName(located: Located, members: LocatedMap['members'], what: string): string | null {
    const name = members.get('name');
    if (name?.kind === 'scalar' && typeof name.value === 'string' && isKeyName(name.value)) return name.value;
    if (located.kind === 'map') {
      const message = `${what} needs a \`name\`: text of ${KEY_NAME_RULE}`;
      report({ line: (name ?? located).line, message });
    }
    return null;
  }

  /** Errors do not show the value, which may be the secret. */
  function readSecretSource(located: Located): LocatedSecret | null {
    const [[kind, source] = [], ...more] = located.kind === 'map' ? located.members : [];
    if (source?.kind === 'scalar' && typeof source.value === 'string' && more.length === 0) {
      if (kind === 'env' && OWN_VARIABLE.test(source.value)) {
        report({ line: located.line, message: OWN_VARIABLE_REFUSED });
        return null;
      }
      if (kind === 'env') return { line: located.line, source: { env: source.value } };
      if (kind === 'file') return { line: located.line, source: { file: source.value } };
    }
    const message =
      'a secret does not stand in this file: write api_key: { env: NAME_OF_A_VARIABLE } or { file: ./path }';
    report({ line: located.line, message });
    return null;
  }
}
