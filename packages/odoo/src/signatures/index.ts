/** The parameters of methods: of known ones, and of those that the doc page of a server lists. */

export { type DocPage, readDocPage } from './doc-page.ts';
export { listSignatures } from './list-signatures.ts';
export { findModelSignature } from './model-signatures.ts';
export type { Signature } from './signature.ts';
export { findSignature } from './signatures.ts';
