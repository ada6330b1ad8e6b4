/** What is checked in a call before it is sent. */
export { hasFieldRules, hasSameFieldRules } from './apply-field-rules.ts';
export { authorizeData } from './authorize.ts';
export { createRecordCheck, listUnchecked } from './check-recorded-call.ts';
export { explainCall } from './explain.ts';
export { parseDocument } from './parse.ts';
export {
  checkCharacters,
  checkNames,
  describe,
  invalid,
  NAME_LENGTH_MAX,
  OBJECT_MEMBERS_MAX,
  readBaseUrl,
  readId,
  readText,
} from './read-members.ts';
export { createCredentialNames } from './resolve.ts';
