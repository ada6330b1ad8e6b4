/** Rows to store, by the name of their model. A row without an id gets the next id. */
import type { Row } from '../orm/row.ts';

export type Seed = Readonly<Record<string, readonly Row[]>>;
