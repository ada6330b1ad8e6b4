/** Finds the errors of a pattern of fields that an operator wrote. */
import { compileGlob } from '@erp-proxy/contract';
import { findPatternError } from './pattern.ts';

/** Returns null if there is no error. `kind` is the member that has the pattern. */
export function findFieldError(text: string, kind: 'allow' | 'deny'): string | null {
  if (text.includes('.')) {
    return 'is a path: write a rule for the model of the related record, which then holds for every path to it';
  }
  const error = findPatternError(text, /^[A-Za-z0-9_*]*$/, 'letters, digits and "_" only');
  if (error !== null || kind === 'allow' || !compileGlob(text)('id')) return error;
  return 'would deny `id`, which Odoo returns with every record: use a narrower pattern, or `allow` with the other fields';
}
