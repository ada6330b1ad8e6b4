/** How a tool refuses a call, or passes on that Odoo or the policy refused it. */

export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** A type of docs/errors.md. */
  readonly type: string;
  /** Names that exist, nearest first. */
  readonly nearest: readonly string[];
  /** What to do now, for a model. */
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

/** The lines that a model reads: what is wrong, names that exist, and the next step. */
export function printError({ type, message, nearest, next }: ToolError): string {
  return [
    `${type}: ${message}`,
    ...(nearest.length > 0 ? [`Nearest names: ${nearest.join(', ')}.`] : []),
    ...(next === '' ? [] : [`Next: ${next}`]),
  ].join('\n');
}
