/** The call for which code of this package runs: a stack of sockets and turns does not show it. */

/**
 * Adds a line to the stack of an error that leaves this package, and returns it. `owner` is a name such as the id of a
 * request; null if there is none.
 */
export function nameOwner(error: unknown, owner: string | null): unknown {
  if (error instanceof Error && owner !== null) error.stack = `${error.stack}\n    for request ${owner}`;
  return error;
}
