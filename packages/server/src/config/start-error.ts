/** A fault of the settings or the environment that an operator must fix. Its message says how. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
