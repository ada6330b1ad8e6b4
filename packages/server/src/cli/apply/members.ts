/** The members of keys, instances and subscriptions in a configuration file, without their names. */
import {
  type InstanceInput,
  type InstanceView,
  type KeyView,
  type Policy,
  pick,
  type SubscriptionChanges,
  type SubscriptionView,
} from '@erp-proxy/contract';
import {
  KEY_FILE_MEMBERS,
  type KeyFileMembers,
  pickShownMembers,
  SUBSCRIPTION_MEMBERS,
  SUBSCRIPTION_PARTS,
} from '@erp-proxy/contract/admin';

const KEY_NAMES = Object.keys(KEY_FILE_MEMBERS) as (keyof KeyFileMembers)[];

/** Leaves out what differs between keys of one name. */
export function describeKey(view: KeyView & { policy: Policy | null }): KeyFileMembers {
  return pick(view, KEY_NAMES);
}

type Members = Omit<Required<InstanceInput>, 'name' | 'api_key' | 'key_expires_at'>;

export function describeInstance(view: InstanceView): Members {
  return { ...pickShownMembers(view), rotate_key: view.key.rotate };
}

/** The members of a subscription in a configuration file, without its name and members that only the proxy sets. */
export function describeSubscription(view: SubscriptionView): SubscriptionChanges {
  const { shared, records, events } = SUBSCRIPTION_PARTS;
  const known = { ...shared, ...(view.events === undefined ? records : events) };
  const names = Object.keys(SUBSCRIPTION_MEMBERS) as (keyof typeof SUBSCRIPTION_MEMBERS)[];
  return Object.fromEntries(names.filter((name) => name in known).map((name) => [name, view[name]]));
}
