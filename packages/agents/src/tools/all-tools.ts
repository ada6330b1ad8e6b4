/** The tools, in the order in which clients list them: the order never changes, so that lists can be cached. */
import type { Tool } from '../tool.ts';
import { aggregateRecords } from './aggregate-records.ts';
import { callMethod } from './call-method.ts';
import { countRecords } from './count-records.ts';
import { createRecord } from './create-record.ts';
import { deleteRecords } from './delete-records.ts';
import { describeModel } from './describe-model.ts';
import { getContext } from './get-context.ts';
import { getDocument } from './get-document.ts';
import { listChanges } from './list-changes.ts';
import { listModels } from './list-models.ts';
import { readFile } from './read-file.ts';
import { readRecords } from './read-records.ts';
import { searchRecords } from './search-records.ts';
import { updateRecords } from './update-records.ts';

export const ALL_TOOLS: readonly Tool[] = [
  getContext,
  listModels,
  describeModel,
  searchRecords,
  readRecords,
  countRecords,
  aggregateRecords,
  listChanges,
  readFile,
  getDocument,
  createRecord,
  updateRecords,
  deleteRecords,
  callMethod,
];
