/** The last calls of this browser, the newest first: their forms and outcomes, without secrets and results. */
import type { CallForm } from './call-form.ts';
import { readForm } from './read-form.ts';

export interface PastCall {
  at: string;
  form: CallForm;
  /** `ok`, or the type of the error. */
  outcome: string;
  totalMs: number;
}

const STORAGE_KEY = 'erp-proxy.playground.history';
const CALLS_MAX = 50;
/** Longer forms are not stored, because the storage of the browser is small. */
const FORM_LENGTH_MAX = 20_000;

/** The methods of the browser's storage that are used. */
export type TextStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export function readHistory(storage: TextStorage): PastCall[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(STORAGE_KEY) ?? '[]');
    return Array.isArray(stored) ? stored.map(readPastCall).filter((call) => call !== null) : [];
  } catch {
    return [];
  }
}

function readPastCall(value: unknown): PastCall | null {
  if (typeof value !== 'object' || value === null) return null;
  const { at, form, outcome, totalMs } = value as Record<string, unknown>;
  if (typeof at !== 'string' || typeof outcome !== 'string' || typeof totalMs !== 'number') return null;
  return { at, form: readForm(form), outcome, totalMs };
}

/** Adds a call and returns the new history. */
export function addToHistory(storage: TextStorage, call: PastCall): PastCall[] {
  if (JSON.stringify(call.form).length > FORM_LENGTH_MAX) return readHistory(storage);
  const calls = [call, ...readHistory(storage)].slice(0, CALLS_MAX);
  try {
    storage.setItem(STORAGE_KEY, JSON.stringify(calls));
  } catch {
    // The storage is full or not allowed. The page works without it.
  }
  return calls;
}

export function clearHistory(storage: TextStorage): void {
  storage.removeItem(STORAGE_KEY);
}
