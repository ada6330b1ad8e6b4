/** What Odoo does only if the context of a call has a certain member, from context-effects-data.ts. No decisions. */
import { readTableLines } from '../table-lines.ts';
import { CONTEXT_EFFECTS, EFFECTS_OF_READS } from './context-effects-data.ts';

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

/** The members with an effect while records are read. */
export function listEffectsOfReads(): readonly string[] {
  ofReads ??= readTableLines(EFFECTS_OF_READS).map(({ name }) => name);
  return ofReads;
}

let ofReads: readonly string[] | null = null;

function readEffect(word: string): ContextEffect {
  const [model = '', method = ''] = word.split('/');
  return { model, method };
}
