/** How a tool refuses a call, or reports a refusal by Odoo or the policy. */

export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** An error type of docs/errors.md. */
  readonly type: string;
  /** Similar names that exist, the nearest first. */
  readonly nearest: readonly string[];
  /** What the model should do next. */
  readonly next: string;
  /** Page that the person must visit first; null: there is none. */
  readonly url: string | null;

  constructor(
    type: string,
    message: string,
    {
      nearest = [],
      next = '',
      url = null,
    }: { nearest?: readonly string[]; next?: string; url?: string | null } = {},
  ) {
    super(message);
    this.type = type;
    this.nearest = nearest;
    this.next = next;
    this.url = url;
  }
}

/** Prints the lines that a model reads: what is wrong, names that exist, and the next step. */
export function printError({ type, message, nearest, next }: ToolError): string {
  return [
    `${type}: ${message}`,
    ...(nearest.length > 0 ? [`Nearest names: ${nearest.join(', ')}.`] : []),
    ...(next === '' ? [] : [`Next: ${next}`]),
  ].join('\n');
}
