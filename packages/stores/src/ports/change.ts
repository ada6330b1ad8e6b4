/** The result of a change of one row. Part of the interface of a store (store.ts). */

/** Result of changing one version of a row. `conflict`: the row has another version, or its name is taken. */
export type Change = 'done' | 'missing' | 'conflict';
