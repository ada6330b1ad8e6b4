/** Reads policies that people write, and reports all their errors: the only entry point that loads zod. */
export {
  FIELD_RULE_SCHEMA,
  flag,
  type Members,
  pathOfEntry,
  type Report,
  reportUnknownNames,
  texts,
} from '../member-kinds.ts';
export { POLICY_MEMBERS, POLICY_SCHEMA } from '../members.ts';
export { parsePolicy } from '../parse.ts';
export { LOSS_MESSAGE, listModelsWithoutFields, losesPublishable, proposeFields } from '../publishable.ts';
