/** The form by which a person confirms a call. */
import { isObject } from '../json/is-object.ts';

export const ANSWER = 'confirm';
export const QUESTION_SCHEMA = {
  type: 'object' as const,
  properties: { [ANSWER]: { type: 'boolean' as const, title: 'Yes, do it', default: false } },
  required: [ANSWER],
};
export const REFUSED =
  'A person was asked and did not agree. Nothing was changed. Do not try again unless they ask for it.';

/** Whether the result of an elicitation is a yes. */
export function readConfirmation({ action, content }: { action?: unknown; content?: unknown }): boolean {
  return action === 'accept' && isObject(content) && content[ANSWER] === true;
}
