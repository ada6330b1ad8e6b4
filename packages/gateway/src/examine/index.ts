/** Checks whether a server can be called. */
export { examineServer, NOTHING_FOUND, type OnCheck } from './examine.ts';
