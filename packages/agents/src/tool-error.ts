/** How a tool refuses a call, or reports a refusal by Odoo or the policy. */

export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** An error type of docs/errors.md. */
  readonly type: string;
  /** Similar names that exist, the nearest first. */
  readonly nearest: readonly string[];
  /** What the model should do next. */
  readonly next: string;

  constructor(
    type: string,
    message: string,
    { nearest = [], next = '' }: { nearest?: readonly string[]; next?: string } = {},
  ) {
    super(message);
    this.type = type;
    this.nearest = nearest;
    this.next = next;
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
