/** Checks the answers of a running proxy, as far as commands depend on them, and cleans their texts for a terminal. */
import { isObject } from '@erp-proxy/json';

export type Shape = (value: unknown) => boolean;

const isText: Shape = (value) => typeof value === 'string';
const isNumber: Shape = (value) => typeof value === 'number';
const isAbsentOr =
  (is: Shape): Shape =>
  (value) =>
    value === undefined || value === null || is(value);
const isListOf =
  (is: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(is);
const has =
  (members: Record<string, Shape>): Shape =>
  (value) =>
    isObject(value) && Object.entries(members).every(([name, is]) => is(value[name]));

export const ANYTHING = has({});
export const KEY = has({ id: isText, name: isText, state: isText });
export const KEY_NAMES = has({ items: isListOf(has({ id: isText, name: isText })) });
export const NEW_KEY = has({ id: isText, name: isText, key: isText });
export const INSTANCE = has({ name: isText, key: ANYTHING });
export const APPROVAL = has({ id: isText, state: isText, expires_at: isText });
const CONCERNED = has({ part: isText, model: isText, records: isListOf(has({ id: isNumber })) });
const APPROVAL_CALL = has({ concerns: isAbsentOr(isListOf(CONCERNED)) });
export const APPROVAL_DETAILS: Shape = (value) =>
  APPROVAL(value) && isObject(value) && (value['call'] === null || APPROVAL_CALL(value['call']));
export const SUBSCRIPTION = has({
  name: isText,
  state: isText,
  fields: isAbsentOr(isListOf(isText)),
  events: isAbsentOr(isListOf(isText)),
  receiver: ANYTHING,
  secrets: isListOf(ANYTHING),
});
export const NEW_SUBSCRIPTION: Shape = (value) =>
  SUBSCRIPTION(value) && isObject(value) && isText(value['secret']);
export const DELIVERY = has({ id: isText, type: isText, state: isText, attempts: isNumber });
export const PING = has({ duration_ms: isNumber });
export const REPLAYED = has({ replayed: isNumber });
export const DENIED_SUBJECT = has({ id: isText, denied_at: isText });
export const EXPLANATION = has({ message: isText, sets: ANYTHING });
export const COMPARISON = has({ groups: isListOf(has({ model: isText, action: isText, calls: isNumber })) });
export const ATTENTION = has({
  items: isListOf(has({ severity: isText, target: isText, text: isText })),
  more: isNumber,
});
export const EXAMINATION = has({
  checks: isListOf(has({ name: isText, state: isText, text: isText })),
});
export const PROBLEM = has({
  detail: isText,
  status: isNumber,
  faults: isAbsentOr(isListOf(has({ path: isText, message: isText }))),
});
export const RECORD: Shape = (value) =>
  isObject(value) && (value['kind'] !== 'admin' || isObject(value['changes']));
export const pageOf = (item: Shape): Shape => has({ items: isListOf(item), next: isAbsentOr(isText) });

/** For JSON.parse: removes control characters except line breaks from names and texts. */
export function cleanTexts(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), member]));
}

function cleanText(text: string): string {
  return text.replace(/\r(?!\n)|[^\P{Cc}\r\n\t]/gu, '');
}
