/** Renders keys and instances as a configuration file. Applied to the same store, it changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import {
  INSTANCE_DEFAULTS,
  type InstanceView,
  type KeyView,
  SUBSCRIPTION_DEFAULTS,
  type SubscriptionView,
} from '@erp-proxy/contract';
import {
  INSTANCE_INPUT,
  type KeyFileMembers,
  listDefaults,
  SUBSCRIPTION_MEMBERS,
} from '@erp-proxy/contract/admin';
import { stringify } from 'yaml';
import type { InstanceMembers, SubscriptionMembers } from './configuration.ts';
import { describeInstance, describeKey, describeSubscription } from './members.ts';

interface WrittenConfiguration {
  keys: ({ name: string } & KeyFileMembers)[];
  instances: ({ name: string } & InstanceMembers)[];
  /** Left out if there are no subscriptions. */
  subscriptions?: ({ name: string } & SubscriptionMembers)[];
}

const HEADER = `# Written by erp-proxy config export, for erp-proxy apply. It holds no secret: an instance that is to be added elsewhere needs
# its api_key: { env: NAME } or { file: ./path }. The last line marks the end: apply --require-end refuses a file without it.
`;
const DEFAULTS = {
  instance: listDefaults(INSTANCE_INPUT, INSTANCE_DEFAULTS),
  subscription: listDefaults(SUBSCRIPTION_MEMBERS, SUBSCRIPTION_DEFAULTS),
};
const END_MARK = '...\n';

/** Policies that a file cannot express are omitted, with the reason in `omitted`. */
export function describeConfiguration(
  keys: Iterable<KeyView>,
  instances: Iterable<InstanceView>,
  subscriptions: readonly SubscriptionView[] = [],
): { configuration: WrittenConfiguration; omitted: string[] } {
  const known = new Map<string, KeyFileMembers>();
  const contradictions = new Set<string>();
  const unreadable = new Map<string, string>();
  for (const key of keys) {
    const { id, name, policy } = key;
    if (policy !== null && 'unreadable' in policy) {
      const reason = `the policy of key ${JSON.stringify(name)} (${id}) is unreadable (${policy.unreadable}), and apply goes by the name; set it anew with erp-proxy keys update`;
      unreadable.set(name, reason);
      continue;
    }
    const members = describeKey({ ...key, policy });
    const other = known.get(name);
    if (other !== undefined && !isDeepStrictEqual(other, members)) contradictions.add(name);
    known.set(name, members);
  }
  for (const name of [...contradictions, ...unreadable.keys()]) known.delete(name);
  const different = [...contradictions].map(
    (name) =>
      `keys named ${JSON.stringify(name)} have different policies or persons, and apply goes by the name; give them names of their own`,
  );
  return {
    configuration: {
      keys: [...known].map(([name, { for: person, ...members }]) => ({
        name,
        ...members,
        ...(person == null ? {} : { for: person }),
      })),
      instances: [...instances].map((view) => ({
        name: view.name,
        ...omitDefaults(describeInstance(view), DEFAULTS.instance),
      })),
      ...(subscriptions.length === 0
        ? {}
        : {
            subscriptions: subscriptions.map((view) => ({
              name: view.name,
              ...omitDefaults(describeSubscription(view), DEFAULTS.subscription),
            })),
          }),
    },
    omitted: [...different, ...unreadable.values()],
  };
}

export function renderConfiguration(configuration: WrittenConfiguration): string {
  return HEADER + stringify(configuration, { lineWidth: 0, aliasDuplicateObjects: false }) + END_MARK;
}

function omitDefaults<Members extends object>(
  members: Members,
  defaults: Readonly<Record<string, unknown>>,
): Partial<Members> {
  const kept = Object.entries(members).filter(
    ([name, value]) => !(name in defaults) || !isDeepStrictEqual(value, defaults[name]),
  );
  return Object.fromEntries(kept) as Partial<Members>;
}
