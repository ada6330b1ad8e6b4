/** Errors of the identity provider of operators. Does not load the library that speaks with it. */

export type ProviderFault =
  /** The provider did not let the person in, or the person did not want to. */
  | 'denied'
  /** The answer is not valid, or the provider no longer confirms the person. */
  | 'refused'
  /** The provider could not be asked. */
  | 'away';

/** The message is for the operator's log. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly fault: ProviderFault;

  constructor(fault: ProviderFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
