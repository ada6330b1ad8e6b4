/** The members of a key in a configuration file, without its name and members that only one key of a name has. */
import { type KeyView, type Policy, pick } from '@erp-proxy/contract';
import { KEY_FILE_MEMBERS, type KeyFileMembers } from '@erp-proxy/contract/admin';

const NAMES = Object.keys(KEY_FILE_MEMBERS) as (keyof KeyFileMembers)[];

export function describeKey(view: KeyView & { policy: Policy | null }): KeyFileMembers {
  return pick(view, NAMES);
}
