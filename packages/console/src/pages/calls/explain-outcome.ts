/** Explains the outcome of a call, and what to do about it, by the table of errors. Pure. */
import {
  BUSINESS_ERRORS,
  type BusinessErrorRow,
  COMPATIBLE_ERRORS,
  type ErrorRow,
  PROXY_ERRORS,
  type Retry,
} from '@erp-proxy/contract';

export interface OutcomeExplanation {
  /** Where the answer came from. */
  source: 'proxy' | 'Odoo';
  meaning: string;
  /** What to do; null if `meaning` says it. */
  remedy: string | null;
  /** Says whether the same call may be sent again. */
  retry: string;
}

const OF_PROXY: Record<string, ErrorRow> = { ...PROXY_ERRORS, ...COMPATIBLE_ERRORS };
const OF_ODOO: Record<string, BusinessErrorRow> = BUSINESS_ERRORS;

const RETRIES: Record<Retry, string> = {
  never: 'Sending the same call again does not help.',
  always: 'The same call can be sent again, even if it is a write.',
  if_safe: 'The same call can be sent again if it only reads, or if it has not run.',
};

/** Null for `ok`, and for outcomes that only other releases have. */
export function explainOutcome(outcome: string): OutcomeExplanation | null {
  if (Object.hasOwn(OF_PROXY, outcome)) {
    const { when, remedy, retry } = OF_PROXY[outcome] as ErrorRow;
    return { source: 'proxy', meaning: dropLinks(when), remedy: dropLinks(remedy), retry: RETRIES[retry] };
  }
  if (!Object.hasOwn(OF_ODOO, outcome)) return null;
  const { when, retry } = OF_ODOO[outcome] as BusinessErrorRow;
  return { source: 'Odoo', meaning: dropLinks(when), remedy: null, retry: RETRIES[retry] };
}

/** Splits a text into words and code, which is in backticks. */
export function splitCode(text: string): { text: string; isCode: boolean }[] {
  return text
    .split('`')
    .map((part, index) => ({ text: part, isCode: index % 2 === 1 }))
    .filter((part) => part.text !== '');
}

/** Removes links, which lead to pages of the documentation. */
function dropLinks(text: string): string {
  return text.replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)/g, '').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
}
