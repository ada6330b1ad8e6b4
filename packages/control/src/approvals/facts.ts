/**
 * The facts that are stored about a call that needs an approval, in addition to its values. They contain no
 * credentials.
 */

export interface ApprovalFacts {
  /** Id of the client key that made the request. */
  keyId: string;
  /** JSON text of the actor who made the call in the console; absent: the client made it. */
  actor?: string;
  /** Address of the caller. */
  address: string;
  /** Name of the stored instance; null if the call brought its own credentials. */
  instance: string | null;
  /** Base address of the server. */
  upstream: string;
  db: string;
  /** Id of the user in Odoo; null if the Odoo key of the call determines the user. */
  userId: number | null;
  model: string;
  action: string;
  /** The rule of the policy that asks for the approval. */
  rule: string;
}

export function printFacts(facts: ApprovalFacts): string {
  return JSON.stringify(facts);
}

/** `text` must be a result of {@link printFacts}. */
export function readFacts(text: string): ApprovalFacts {
  return JSON.parse(text);
}
