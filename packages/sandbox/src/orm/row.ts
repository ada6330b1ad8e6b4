/** A record as it is stored: its values by the names of its fields. */
import type { Json } from '../json/value.ts';

export type Row = Readonly<Record<string, Json>>;
