/** Explains to a model what a tool has run into. */
import type { Session } from './session.ts';
import type { Answer } from './tool.ts';
import { printError, ToolError } from './tool-error.ts';

/** `url`: the page that the person must visit first; null: there is none. Reports faults of the proxy itself. */
export function explainError(error: unknown, session: Session): { text: string; url: string | null } {
  if (error instanceof ToolError) return { text: printError(error), url: error.url };
  session.reportFault(error);
  const message = `The proxy failed; its operator finds the cause by ${session.requestId}.`;
  return { text: printError(new ToolError('internal', message)), url: null };
}

/** Adds why a value is null, if Odoo has NaN or Infinity there. */
export function explainNulls(answer: Answer, { nullField }: Session): Answer {
  if (nullField === null) return answer;
  const place = nullField === '' ? 'A value' : `${nullField} of a record`;
  const no_number = `${place} is NaN or Infinity in Odoo; null stands for it. Tell the user, who can correct it.`;
  return { ...answer, no_number };
}
