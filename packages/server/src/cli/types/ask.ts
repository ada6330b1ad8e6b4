/** The function with which `types` asks the proxy, and its error. */

/** Calls a method of a model. Throws a {@link Refusal} if the answer is an error. */
export type Ask = (model: string, action: string, params: unknown[], keyword: object) => Promise<unknown>;

/** An error that the proxy or Odoo answered. */
export class Refusal extends Error {
  readonly type: string;
  /** True if the same call may succeed later. */
  readonly isPassing: boolean;

  constructor(type: string, message: string, isPassing: boolean) {
    super(message);
    this.type = type;
    this.isPassing = isPassing;
  }
}
