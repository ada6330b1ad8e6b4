/** What is known of the records of one shape: how each member is treated, and in which order they come. */
import type { FieldType } from './field-types.ts';
import { MemberPlan, type Treatment } from './member-plan.ts';
import type { RecordShape } from './record-shape.ts';

/** A member at a position in the records: the bytes from the end of the value before it to its own value. */
export interface Slot {
  text: Uint8Array;
  treatment: Treatment;
  nested: Layout | null;
}

/** What was seen of the records of one shape. */
export interface Layout {
  shape: RecordShape;
  slots: Slot[];
  plan: MemberPlan;
  nested: ReadonlyMap<string, Layout>;
}

export function layOut(shape: RecordShape): Layout {
  const nested = new Map([...shape.nested].map(([name, below]) => [name, layOut(below)] as const));
  return { shape, slots: [], plan: new MemberPlan(), nested };
}

/** Finds the layout that replaces each layout of a tree. */
export function pairLayouts(before: Layout, after: Layout, pairs: Map<Layout, Layout>): void {
  pairs.set(before, after);
  for (const [name, layout] of before.nested) {
    const next = after.nested.get(name);
    if (next !== undefined) pairLayouts(layout, next, pairs);
  }
}

export function findTreatment({ type }: FieldType, nested: Layout | null): Treatment {
  switch (type) {
    case 'boolean':
      return 'keep';
    case 'many2one':
    case 'reference':
    case 'datetime':
      return type;
    case 'one2many':
    case 'many2many':
      return nested === null ? 'empty' : 'records';
    default:
      return 'empty';
  }
}
