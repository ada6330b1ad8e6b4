/** An instance that is not stored, so that its server can be checked. */
import type { InstanceCheckInput } from '@erp-proxy/contract';
import { readInput } from './members.ts';
import { type Instance, toInstance } from './views.ts';

/** No error names it. */
const DRAFT = { id: 'draft', name: 'draft' };

/** The rules for its members are those of an instance to store. Throws an {@link InstanceInputError}. */
export function openDraft(input: InstanceCheckInput): Instance {
  return toInstance(DRAFT, readInput({ ...input, name: DRAFT.name }));
}
