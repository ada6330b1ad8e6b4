/** Records of other models that a call reads, changes or removes. */
export { ANY_MODEL, type RelatedMethod, type RelatedWrite, UNDETERMINED } from './related-findings.ts';
export { bringsContext, findRelatedRead, listReadEffects, type RelatedRead } from './related-reads.ts';
export {
  findRelatedWrites,
  NO_RELATED_WRITES,
  NOTHING_LEARNT,
  type RelatedWrites,
} from './related-writes.ts';
export { findRemoval, type LackingFields } from './removals.ts';
export { hasUnboundedField } from './specification-limits.ts';
