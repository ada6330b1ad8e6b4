/**
 * Binds named arguments only, with the messages of Python's inspect.Signature.bind, which json2 uses
 * (docs/odoo-facts.md#json2-status).
 */
import type { JsonObject } from '../json/value.ts';
import { fillDefaults } from './bind-arguments.ts';
import { typeError } from './fault.ts';
import { parseSignature } from './parse-signature.ts';

export function bindNames(parameters: string, named: JsonObject): JsonObject {
  const signature = parseSignature(parameters);
  const nameable = signature.filter(
    ({ kind }) => kind === 'POSITIONAL_OR_KEYWORD' || kind === 'KEYWORD_ONLY',
  );
  const missing = nameable.find((parameter) => parameter.default === undefined && !(parameter.name in named));
  if (missing) throw typeError(`missing a required argument: '${missing.name}'`);
  const unknown = Object.keys(named).find((key) => nameable.every((parameter) => parameter.name !== key));
  if (unknown !== undefined && signature.at(-1)?.kind !== 'VAR_KEYWORD')
    throw typeError(`got an unexpected keyword argument '${unknown}'`);
  return fillDefaults(signature, named);
}
