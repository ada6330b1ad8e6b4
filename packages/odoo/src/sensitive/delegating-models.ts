/** Models whose records have the fields of a record of another model (`_inherits`), from Odoo Community 14 to 19. */
import { readTableLines } from '../table-lines.ts';
import { HEIRS } from './written-models-data.ts';

/** The models whose fields the model has by direct delegation. */
export function listDelegates(model: string): readonly string[] {
  return BY_MODEL.get(model) ?? [];
}

const BY_MODEL: ReadonlyMap<string, readonly string[]> = readDelegates();

function readDelegates(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name: model, words } of readTableLines(HEIRS)) {
    const [how, of = ''] = words;
    if (how === 'delegates') found.set(model, [...(found.get(model) ?? []), of]);
  }
  return found;
}
