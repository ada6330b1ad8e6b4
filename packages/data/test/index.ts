/** What tests and benchmarks of other packages use of this package. Code of the product does not import it. */
export { prepareContext } from '../src/changes/changes-questions.ts';
export { findGone } from '../src/changes/find-gone.ts';
export { readChanges } from '../src/changes/read-changes.ts';
export type { Ask, Change, ChangesBounds, ChangesQuery, ChangesState } from '../src/changes/terms.ts';
export { ZipArchive } from '../src/documents/zip-archive.ts';
