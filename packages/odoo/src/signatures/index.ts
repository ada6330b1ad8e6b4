/** The parameters of methods: of well-known methods, and of methods that the doc page of a server lists. */

export { type DocPage, readDocPage } from './doc-page.ts';
export { listSignatures } from './list-signatures.ts';
export { findModelSignature } from './model-signatures.ts';
export type { Signature } from './signature.ts';
export { findSignature } from './signatures.ts';
