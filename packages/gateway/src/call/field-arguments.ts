/** The fields that a call names, and calls that name other ones. All other bytes stay those of the caller. */
import { type ArgumentPlace, type FieldScope, type FieldUses, listFieldUses } from '@erp-proxy/odoo/fields';
import type { Call } from './parse.ts';
import type { Json2Call } from './parse-json2.ts';
import { type DescribedCall, describeCall, describeJson2Call } from './policy-request.ts';
import { rewriteCall, rewriteJson2Call } from './rewrite-call.ts';

/** `scope`: `read` leaves out the fields that are written. */
export function listCallFields(call: Call, scope: FieldScope): FieldUses {
  return listFields(describeCall(call), scope);
}

export function listJson2Fields(call: Json2Call, scope: FieldScope): FieldUses {
  return listFields(describeJson2Call(call), scope);
}

function listFields({ model, method, args }: DescribedCall, scope: FieldScope): FieldUses {
  return listFieldUses(model, method, args, scope);
}

/** `value` is JSON. */
export function setCallArgument(call: Call, { position, name }: ArgumentPlace, value: string): Call {
  const placed = describeCall(call).args.positional[position];
  if (placed !== undefined) return rewriteCall(call, new Map(), { span: placed, value });
  return rewriteCall(call, new Map([[name, [value]]]), null);
}

export function setJson2Argument(call: Json2Call, { name }: ArgumentPlace, value: string): Json2Call {
  return rewriteJson2Call(call, new Map([[name, [value]]]));
}
