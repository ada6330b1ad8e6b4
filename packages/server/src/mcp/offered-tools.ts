/** The tools that a policy offers. What no call of the key could do is not listed. */
import type { CompiledPolicy } from '../policy/compile.ts';
import type { Tool } from './tool.ts';
import { ALL_TOOLS } from './tools/all-tools.ts';

export interface OfferedTools {
  /** In the order in which clients list them. */
  readonly tools: readonly Tool[];
  /** Whether the key may call several instances, so that the tools have an argument for one. */
  readonly hasInstances: boolean;
  /** The same for all policies that offer these tools in this form. */
  readonly name: string;
}

type Forms = Readonly<Record<'one' | 'several', OfferedTools>>;

const known = new WeakMap<CompiledPolicy, Forms>();
const allOffered = select(null);

/** `policy` null: the key has none. `instances`: number of those that the key may call. */
export function findOfferedTools(policy: CompiledPolicy | null, instances: number): OfferedTools {
  const forms = policy === null ? allOffered : (known.get(policy) ?? select(policy));
  if (policy !== null) known.set(policy, forms);
  return forms[instances > 1 ? 'several' : 'one'];
}

function select(policy: CompiledPolicy | null): Forms {
  const tools = ALL_TOOLS.filter((tool) => tool.isOffered(policy));
  const name = tools.map((tool) => tool.name).join(' ');
  return {
    one: { tools, hasInstances: false, name },
    several: { tools, hasInstances: true, name: `${name} instance` },
  };
}
