/** The names of a database's models, as `ir.model` lists them to a user who may read it. */
import {
  decodeString,
  findValue,
  JsonSyntaxError,
  readDocument,
  readElements,
  readMembers,
} from '@erp-proxy/json';

/** Maximum number of models that the request asks for. A database with all of Odoo's modules has some 1500. */
const MODELS_MAX = 5000;

/** The named arguments of the call of `search_read` whose result {@link readModelNames} reads. */
export const MODEL_NAMES_ARGUMENTS = `{"domain": [], "fields": ["model"], "limit": ${MODELS_MAX}}`;

/** Null if the result lists no records. A record without a name is left out. */
export function readModelNames(result: Uint8Array): string[] | null {
  try {
    const { root } = readDocument(result);
    if (root.kind !== 'array') return null;
    const names: string[] = [];
    readElements(result, root, (record) => {
      const model = record.kind === 'object' ? findValue(readMembers(result, record), 'model') : undefined;
      if (model?.kind === 'string') names.push(decodeString(result, model));
      return true;
    });
    return names;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}
