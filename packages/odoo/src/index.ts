/** Methods of Odoo: their arguments, the models that they read and change, and the names that Odoo has. */
export { type Arguments, isLeftOut, POSITIONAL_MAX, readArguments } from './arguments.ts';
export { listEquivalents } from './equivalent-methods.ts';
export { NAMED_COUNT } from './grouping.ts';
export { findUnknown, listMethods, listModels } from './known-methods.ts';
export { classifyAction, findWrittenModel, isReadOnlyMethod, limitRule, mayReturnFields } from './methods.ts';
export { MODEL_NAMES_ARGUMENTS, readModelNames } from './model-names.ts';
export { findNamedDomain } from './named-domain.ts';
export { listOtherNames, type NameKind } from './other-names.ts';
export { isReadingMember } from './reading-context.ts';
export { countRecords, findLimitPosition, type RecordCount } from './record-count.ts';
export { listWellKnownMethods } from './well-known-methods.ts';
