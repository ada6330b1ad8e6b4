/** The state of a policy while it is written: its text, whether or not it is valid. Pure. */
import { type KeyView, type Policy, tryParse } from '@erp-proxy/contract';
import { printJson } from '../../parts/print-json.ts';

export interface PolicyDraft {
  /** False if the key has no policy. The text is kept in case the person changes their mind. */
  isRestricted: boolean;
  text: string;
}

/** Members to set, or to remove if undefined. */
export type PolicyMembers = { [Name in keyof Policy]?: Policy[Name] | undefined };

export type ReadDraft = { policy: Policy | null } | { mistake: string };

export function createDraft(policy: KeyView['policy']): PolicyDraft {
  if (policy === null) return { isRestricted: false, text: '' };
  // The draft begins empty, because an unreadable policy is replaced by a new one.
  if ('unreadable' in policy) return { isRestricted: true, text: '' };
  // The servers come first, because readers look for them first.
  const { instances, origins, dbs, ...rest } = policy;
  return { isRestricted: true, text: printJson({ instances, origins, dbs, ...rest }) };
}

export function readDraft({ isRestricted, text }: PolicyDraft): ReadDraft {
  if (!isRestricted) return { policy: null };
  if (text.trim() === '') return { mistake: 'Write the policy, or choose a template.' };
  const value = tryParse(text);
  if (value === undefined) {
    return { mistake: 'The policy is not valid JSON. The editor marks the place.' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { mistake: 'A policy is an object: {"instances": […], "models": {…}}.' };
  }
  return { policy: value as Policy };
}

/** Sets some members of a policy. Removes those that are undefined, empty or false. */
export function setMembers(policy: Policy, members: PolicyMembers): PolicyDraft {
  const kept = Object.entries({ ...policy, ...members }).filter(
    ([name, value]) => name === 'models' || !(name in members) || !isEmpty(value),
  );
  return { isRestricted: true, text: printJson(Object.fromEntries(kept)) };
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** An instance for an example call, one that the policy allows if possible. */
export function chooseInstance(read: ReadDraft, stored: readonly string[]): string {
  const patterns = 'policy' in read && Array.isArray(read.policy?.instances) ? read.policy.instances : [];
  return patterns.find((pattern) => !String(pattern).includes('*')) ?? stored[0] ?? 'prod';
}

/** Reads a list of texts. The JSON of a policy can have any value in its place. */
export function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
