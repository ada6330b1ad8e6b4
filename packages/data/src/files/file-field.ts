/** Chooses the field that has the file of a request, by the types of the model's fields. Pure. */

import { Denial, explainFailure, type FaultReply, type FoundTypes } from '@erp-proxy/gateway/terms';

/**
 * The two fields with the content of an attachment. Up to Odoo 19.2, RPC carries `datas` as base64, and `raw` as a
 * text. Later versions have only `raw`, as base64.
 */
export const CONTENT_FIELDS: readonly string[] = ['datas', 'raw'];

export interface FileField {
  field: string;
  /** Why the call must not be sent; absent if it may be sent. */
  refusal?: FaultReply | Denial;
}

/**
 * The field to read or write. `found`: the types of the model's fields; null for a call that is refused in any case.
 * Only a write fails without them.
 */
export function chooseFileField(
  model: string,
  field: string,
  found: FoundTypes | null,
  use: 'read' | 'write',
): FileField {
  if (found === null) return { field };
  if ('failed' in found) {
    const text = `Whether \`${field}\` of \`${model}\` is a binary field could not be read. Nothing was written.`;
    return use === 'read' ? { field } : { field, refusal: explainFailure(found.failed, text) };
  }
  const { types } = found;
  const names = model === 'ir.attachment' && CONTENT_FIELDS.includes(field) ? CONTENT_FIELDS : [field];
  const chosen = names.find((name) => types.get(name)?.type === 'binary');
  if (chosen !== undefined) return { field: chosen };
  const type = types.get(field)?.type;
  // Odoo refuses a field that does not exist, and the error names similar fields.
  if (type === undefined) return { field };
  const message = `\`field\` must be the name of a binary field: \`${field}\` is of the type ${type}.`;
  return { field, refusal: new Denial('invalid_params', message, { path: 'field' }) };
}
