/**
 * What a person is asked before a call that cannot be undone. The answer counts only for these arguments, this server
 * and the question as it was read: if a record has another name or state by then, the question is another one.
 */
import { createHash } from 'node:crypto';
import type { InstanceRecord } from '@erp-proxy/control/instances';
import { isObject } from '@erp-proxy/json';

export interface Question {
  text: string;
  /** Identifies the call and this text. */
  about: string;
}

export interface Said {
  /** {@link Question.about} of the question that was answered. */
  about: string;
  isYes: boolean;
}

export const ANSWER = 'confirm';
export const QUESTION_SCHEMA = {
  type: 'object' as const,
  properties: { [ANSWER]: { type: 'boolean' as const, title: 'Yes, do it', default: false } },
  required: [ANSWER],
};
export const REFUSED =
  'A person was asked and did not agree. Nothing was changed. Do not try again unless they ask for it.';

/**
 * True if the client can show questions, by its `capabilities`. In the revision 2025-06-18, a form is the only kind of
 * elicitation.
 */
export function canShowQuestions(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isObject(elicitation) && (elicitation['form'] !== undefined || elicitation['url'] === undefined);
}

/** True if the client can show pages to the person, by its `capabilities`. Since the revision 2025-11-25. */
export function canShowPages(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities['elicitation'] : undefined;
  return isObject(elicitation) && elicitation['url'] !== undefined;
}

/** What a person is told who must visit a page. */
export const PAGE_TEXT =
  'Connect your user of Odoo first. Come back here when the page says that you are connected.';

/** True if the result of an elicitation is a yes. */
export function readConfirmation({ action, content }: { action?: unknown; content?: unknown }): boolean {
  return action === 'accept' && isObject(content) && content[ANSWER] === true;
}

/** Includes the server and its user: by the time of the answer, another server can have the same name. */
export function nameCall(
  keyId: string,
  tool: string,
  args: unknown,
  { id, url, db, userId }: InstanceRecord,
): string {
  return digest(JSON.stringify([keyId, tool, args, [id, url, db, userId]]));
}

/** `call`: the result of nameCall. */
export function describeQuestion(call: string, text: string): Question {
  return { text, about: `${call} ${digest(text)}` };
}

export function isAboutCall({ about }: Said, call: string): boolean {
  return about.startsWith(`${call} `);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
