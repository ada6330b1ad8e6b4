/** Descriptions of fields, as `fields_get` returns them. */
import type { Json } from '@erp-proxy/contract';

export interface FieldInfo {
  string: string;
  type: string;
  relation?: string;
  required?: boolean;
  readonly?: boolean;
  selection?: [Json, string][];
  searchable?: boolean;
}

export type FieldTable = Record<string, FieldInfo>;

/** The attributes of fields that the pages use. */
export const FIELD_ATTRIBUTES = [
  'string',
  'type',
  'relation',
  'required',
  'readonly',
  'selection',
  'searchable',
];
