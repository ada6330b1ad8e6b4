/** A mistake in the settings or the environment that the operator must correct. The message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
