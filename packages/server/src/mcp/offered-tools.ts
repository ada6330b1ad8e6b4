/** The tools that a policy offers. What no call of the key could do is not listed. */
import type { CompiledPolicy } from '../policy/compile.ts';
import type { Tool } from './tool.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';

export interface OfferedTools {
  /** In the order in which clients list them. */
  readonly tools: readonly Tool[];
  /** The same for all policies that offer these tools. */
  readonly name: string;
}

const known = new WeakMap<CompiledPolicy, OfferedTools>();
const allOffered = select(null);

/** `policy` null: the key has none. */
export function findOfferedTools(policy: CompiledPolicy | null): OfferedTools {
  if (policy === null) return allOffered;
  const found = known.get(policy);
  if (found !== undefined) return found;
  const made = select(policy);
  known.set(policy, made);
  return made;
}

function select(policy: CompiledPolicy | null): OfferedTools {
  const tools = ALL_TOOLS.filter((tool) => tool.isOffered(policy));
  return { tools, name: tools.map(({ name }) => name).join(' ') };
}
