/**
 * Step: records that a possible write runs. Reads sent before it ends are not joined by later callers, and kept answers
 * of what it changes are dropped. The reply waits for that, so that a caller reads its own write.
 */
import { findWrittenModel } from '@erp-proxy/odoo';
import type { Step } from '../terms/operation.ts';
import type { Target } from '../terms/target.ts';
import type { Reads } from './share-read.ts';
import { nameDatabaseAcrossTrusts } from './target-names.ts';

export interface NoteWriteDeps {
  reads: Reads;
}

export interface WritingCall {
  isReadOnly: boolean;
  target: Target;
  model: string;
  method: string;
}

export function noteWrite({ reads }: NoteWriteDeps): Step<WritingCall> {
  return async function noteWrite({ isReadOnly, target, model, method }, context, next) {
    if (isReadOnly) return await next(context);
    const database = nameDatabaseAcrossTrusts(target);
    const written = findWrittenModel(model, method);
    void reads.noteWrite(database, written);
    try {
      return await next(context);
    } finally {
      await reads.noteWrite(database, written);
    }
  };
}
