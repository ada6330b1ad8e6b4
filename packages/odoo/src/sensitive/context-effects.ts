/** What Odoo does only if the context of a call has a certain member, from context-effects-data.ts. No decisions. */
import { readTableLines } from '../table-lines.ts';
import { CONTEXT_EFFECTS } from './context-effects-data.ts';

/** A change of records, or a method that Odoo runs. */
export interface ContextEffect {
  model: string;
  method: string;
}

/** By member. The size of the data bounds the map. */
let effects: ReadonlyMap<string, readonly ContextEffect[]> | null = null;
const NONE: readonly ContextEffect[] = [];

export function findContextEffects(member: string): readonly ContextEffect[] {
  return listContextEffects().get(member) ?? NONE;
}

export function listContextEffects(): ReadonlyMap<string, readonly ContextEffect[]> {
  effects ??= new Map(
    readTableLines(CONTEXT_EFFECTS).map(({ name, words }) => [name, words.map(readEffect)]),
  );
  return effects;
}

function readEffect(word: string): ContextEffect {
  const [model = '', method = ''] = word.split('/');
  return { model, method };
}
