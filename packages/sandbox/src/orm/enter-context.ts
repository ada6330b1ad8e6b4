/** Adds the caller's context to the environment of a call. */
import type { Json, JsonObject } from '../json/value.ts';
import { isObject } from '../json/value.ts';
import { valueError } from './fault.ts';
import { listItems } from './list-items.ts';
import type { Environment } from './model.ts';

export function enterContext(environment: Environment, context: Json | undefined): Environment {
  const inContext = environment.withContext(readDict(context ?? null));
  checkLanguage(inContext);
  return inContext;
}

// The result of Python's dict() for a context.
function readDict(value: Json): JsonObject {
  if (!value) return {};
  if (isObject(value)) return value;
  const [first] = listItems(value);
  if (first === undefined) return {};
  throw valueError(`dictionary update sequence element #0 has length ${String(first).length}; 2 is required`);
}

function checkLanguage(environment: Environment): void {
  const { unknownLanguage } = environment.personality.texts;
  const code = environment.context['lang'];
  if (!unknownLanguage || typeof code !== 'string') return;
  const languages = environment.store.table('res.lang').where('code', code);
  if (!languages.some((row) => row['active'])) throw unknownLanguage(code);
}
