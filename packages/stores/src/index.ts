/** Opens and copies stores. Loads an engine only when a store of it is opened. */
export { copyStore } from './copy-store.ts';
export { findEngine, joinAlternatives, STORE_ENGINES } from './engines.ts';
export { findUpgrade, lookForStore, openStore } from './open.ts';
export { StoreError, UnknownOutcomeError } from './store-error.ts';
