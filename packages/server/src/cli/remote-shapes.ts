/** Checks the answers of a running proxy, as far as commands depend on them, and cleans their texts for a terminal. */
import * as schemas from '@erp-proxy/contract/admin';
import { isObject } from '@erp-proxy/json';
import type { z } from 'zod';

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

const ANYTHING = has({});
const KEY = has({ id: isText, name: isText, state: isText });
const KEY_NAMES = has({ items: isListOf(has({ id: isText, name: isText })) });
const NEW_KEY = has({ id: isText, name: isText, key: isText });
const INSTANCE = has({ name: isText, key: ANYTHING });
const APPROVAL = has({ id: isText, state: isText, expires_at: isText });
const CONCERNED = has({ part: isText, model: isText, records: isListOf(has({ id: isNumber })) });
const APPROVAL_CALL = has({ concerns: isAbsentOr(isListOf(CONCERNED)) });
const APPROVAL_DETAILS: Shape = (value) =>
  APPROVAL(value) && isObject(value) && (value['call'] === null || APPROVAL_CALL(value['call']));
const SUBSCRIPTION = has({
  name: isText,
  state: isText,
  fields: isAbsentOr(isListOf(isText)),
  events: isAbsentOr(isListOf(isText)),
  receiver: ANYTHING,
  secrets: isListOf(ANYTHING),
});
const NEW_SUBSCRIPTION: Shape = (value) => SUBSCRIPTION(value) && isObject(value) && isText(value['secret']);
const DELIVERY = has({ id: isText, type: isText, state: isText, attempts: isNumber });
const PING = has({ duration_ms: isNumber });
const REPLAYED = has({ replayed: isNumber });
const DENIED_SUBJECT = has({ id: isText, denied_at: isText });
const PERSON = has({ id: isText, name: isText, state: isText });
const CONNECTION = has({ instance: isText, person: isText, state: isText, login: isText });
const TOKEN = has({ id: isText, name: isText, role: isText, state: isText });
const NEW_TOKEN = has({ id: isText, name: isText, role: isText, token: isText });
const EXPLANATION = has({ message: isText, sets: ANYTHING });
const COMPARISON = has({ groups: isListOf(has({ model: isText, action: isText, calls: isNumber })) });
const ATTENTION = has({
  items: isListOf(has({ severity: isText, target: isText, text: isText })),
  more: isNumber,
});
const EXAMINATION = has({
  checks: isListOf(has({ name: isText, state: isText, text: isText })),
});
export const PROBLEM = has({
  detail: isText,
  status: isNumber,
  faults: isAbsentOr(isListOf(has({ path: isText, message: isText }))),
});
/** Older proxies name an actor by a text. */
const ACTOR: Shape = (value) => isAbsentOr(isText)(value) || has({ id: isText, name: isText })(value);
export const RECORD: Shape = (value) =>
  isObject(value) && ACTOR(value['actor']) && (value['kind'] !== 'admin' || isObject(value['changes']));
const pageOf = (item: Shape): Shape => has({ items: isListOf(item), next: isAbsentOr(isText) });

/**
 * What commands need of an answer, by its schema. A proxy of another version may add or omit members, or have other
 * values.
 */
const SHAPES = new Map<z.ZodType, Shape>([
  [schemas.keyPage, pageOf(KEY)],
  [schemas.keyNames, KEY_NAMES],
  [schemas.keyView, KEY],
  [schemas.newKeyView, NEW_KEY],
  [schemas.explanation, EXPLANATION],
  [schemas.policyComparison, COMPARISON],
  [schemas.approvalPage, pageOf(APPROVAL)],
  [schemas.approvalDetails, APPROVAL_DETAILS],
  [schemas.approvalView, APPROVAL],
  [schemas.instancePage, pageOf(INSTANCE)],
  [schemas.instanceView, INSTANCE],
  [schemas.examination, EXAMINATION],
  [schemas.subscriptionPage, pageOf(SUBSCRIPTION)],
  [schemas.subscriptionView, SUBSCRIPTION],
  [schemas.newSubscriptionView, NEW_SUBSCRIPTION],
  [schemas.pingView, PING],
  [schemas.replayView, REPLAYED],
  [schemas.deliveryPage, pageOf(DELIVERY)],
  [schemas.deniedSubjectPage, pageOf(DENIED_SUBJECT)],
  [schemas.deniedSubjectView, DENIED_SUBJECT],
  [schemas.connectionPage, pageOf(CONNECTION)],
  [schemas.personPage, pageOf(PERSON)],
  [schemas.tokenPage, pageOf(TOKEN)],
  [schemas.newTokenView, NEW_TOKEN],
  [schemas.tokenView, TOKEN],
  [schemas.auditPage, pageOf(RECORD)],
  [schemas.auditView, RECORD],
  [schemas.attentionView, ATTENTION],
]);

export function findShape(schema: z.ZodType | undefined): Shape {
  return (schema && SHAPES.get(schema)) ?? isObject;
}

/** A reviver for JSON.parse that removes control characters except line breaks from names and texts. */
export function cleanTexts(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), member]));
}

function cleanText(text: string): string {
  return text.replace(/\r(?!\n)|[^\P{Cc}\r\n\t]/gu, '');
}
