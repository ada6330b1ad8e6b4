/** A stored record: its values by field name. */
import type { Json } from '../json/value.ts';

export type Row = Readonly<Record<string, Json>>;
