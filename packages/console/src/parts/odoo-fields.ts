/** Fields of models as `fields_get` describes them. */
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

/** The attributes that the pages read. */
export const FIELD_ATTRIBUTES = [
  'string',
  'type',
  'relation',
  'required',
  'readonly',
  'selection',
  'searchable',
];
