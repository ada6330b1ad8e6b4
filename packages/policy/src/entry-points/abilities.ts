/** Determines what a key can use at all, before there is a call: for tools, suggestions and explanations. */
export {
  describeStar,
  findUnnamed,
  listNamedModels,
  mayCall,
  mayCallAnywhere,
  mayCallBusinessMethods,
  mayCallUnattended,
  mayReadByPath,
  maySearchByName,
  mayUseData,
  mayUseField,
  mayUseModel,
  restrictsModels,
} from '../abilities.ts';
export { mayNameField, mayNameModel } from '../may-name.ts';
