/** Reads the names of fields in a request that moves data. Pure. */

import { describe, invalid } from '@erp-proxy/gateway/call';
import type { Denial } from '@erp-proxy/gateway/terms';
import { decodeString, type JsonSpan, readElements } from '@erp-proxy/json';
import { type DataRequest, findGiven } from './data-request.ts';

/** The names that Odoo accepts for fields (docs/odoo-facts.md#field-names). */
const FIELD_NAME = /^[a-z_][a-z0-9_$]{0,62}$/i;
const FIELD_NAME_BYTES_MAX = 400;
/** More fields than any model of Odoo's own modules has. */
const FIELDS_MAX = 1000;

/** The names in `fields`: at least one, each once, in their order. `what`: purpose of the fields, for errors. */
export function readFields(data: DataRequest, what: string): readonly string[] | Denial {
  const { bytes } = data;
  const value = findGiven(data, 'fields');
  const rule = `the names of the fields ${what}, e.g. ["name", "email"]`;
  if (value === undefined) return invalid('fields', `\`fields\` is missing: ${rule}.`);
  if (value.kind !== 'array')
    return invalid('fields', `\`fields\` must be an array, not ${describe(value)}: ${rule}.`);
  const names = new Set<string>();
  let denial: Denial | null = null;
  readElements(bytes, value, (element) => {
    denial = checkField(bytes, element, names);
    return denial === null;
  });
  if (denial !== null) return denial;
  return names.size === 0 ? invalid('fields', `\`fields\` is empty: give ${rule}.`) : [...names];
}

/** Adds the name to `names`, or returns a denial. */
function checkField(bytes: Uint8Array, element: JsonSpan, names: Set<string>): Denial | null {
  const path = `fields[${names.size}]`;
  if (names.size === FIELDS_MAX)
    return invalid('fields', `\`fields\` may name at most ${FIELDS_MAX} fields.`);
  if (element.kind !== 'string')
    return invalid(path, `\`${path}\` must be the name of a field, not ${describe(element)}.`);
  const name = element.end - element.start > FIELD_NAME_BYTES_MAX ? null : decodeString(bytes, element);
  if (name === null || !FIELD_NAME.test(name))
    return invalid(
      path,
      `\`${path}\` is not the name of a field of the model itself. Read related models on their own.`,
    );
  if (names.has(name)) return invalid(path, `\`${path}\` names \`${name}\` again; name it once.`);
  names.add(name);
  return null;
}
