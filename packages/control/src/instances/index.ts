/** Stored instances, and the vault of their keys. */
export { chooseInstances, type InstanceChoice } from './choose-instances.ts';
export { findRedirection, openDraft } from './edit.ts';
export { InputError, parseInput } from './input.ts';
export { createInstanceList, type InstanceList } from './instance-list.ts';
export {
  createInstances,
  type DescribeReseal,
  type Instance,
  type InstanceRecord,
  type Instances,
} from './instances.ts';
export { toCodeMembers, toMembers } from './member-names.ts';
export { readChanges, readInput } from './members.ts';
export { findCertificateError, trustOf } from './trust.ts';
export { createVault, type MasterKeys, type RenewableVault, type Vault, VaultError } from './vault.ts';
export type { KeyedRecord } from './views.ts';
