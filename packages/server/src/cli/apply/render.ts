/** What is there as a configuration file. Applied to the same store, it changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import type { InstanceView, KeyView, Policy } from '@erp-proxy/contract';
import { stringify } from 'yaml';
import type { InstanceMembers } from './configuration.ts';
import { describeInstance } from './instance-members.ts';

interface WrittenConfiguration {
  keys: { name: string; policy: Policy | null }[];
  instances: ({ name: string } & InstanceMembers)[];
}

const HEADER = `# Written by erp-proxy export, for erp-proxy apply. It holds no secret: an instance that is to be added elsewhere needs
# its api_key: { env: NAME } or { file: ./path }.
`;
const DEFAULTS: Readonly<Record<string, unknown>> = {
  protocol: 'auto',
  timeout_ms: null,
  concurrency: null,
  certificates: null,
  allow_private: false,
  rotate_key: false,
};

/** `contradictions`: names of several keys with different policies, which no file can say. They are left out. */
export function describeConfiguration(
  keys: Iterable<KeyView>,
  instances: Iterable<InstanceView>,
): { configuration: WrittenConfiguration; contradictions: string[] } {
  const policies = new Map<string, Policy | null>();
  const contradictions = new Set<string>();
  for (const { name, policy } of keys) {
    const other = policies.get(name);
    if (other !== undefined && !isDeepStrictEqual(other, policy)) contradictions.add(name);
    policies.set(name, policy);
  }
  for (const name of contradictions) policies.delete(name);
  return {
    configuration: {
      keys: [...policies].map(([name, policy]) => ({ name, policy })),
      instances: [...instances].map((view) => ({ name: view.name, ...omitDefaults(describeInstance(view)) })),
    },
    contradictions: [...contradictions],
  };
}

export function renderConfiguration(configuration: WrittenConfiguration): string {
  return HEADER + stringify(configuration, { lineWidth: 0, aliasDuplicateObjects: false });
}

function omitDefaults(members: InstanceMembers): InstanceMembers {
  const told = Object.entries(members).filter(
    ([name, value]) => !(name in DEFAULTS) || value !== DEFAULTS[name],
  );
  return Object.fromEntries(told);
}
