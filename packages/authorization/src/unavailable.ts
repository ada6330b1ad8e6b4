/** Failures of what the authorization server needs, in the form of the protocol: the application tries again later. */
import { errors } from 'oidc-provider';

export class UnavailableError extends errors.OIDCProviderError {
  /** `description`: what does not answer, and what to do. */
  constructor(description: string, options: ErrorOptions = {}) {
    super(503, 'temporarily_unavailable');
    Object.assign(this, { error_description: description, expose: true, ...options });
  }
}

/**
 * For what oidc-provider calls: it answers 500 for any error that is none of its own. A failure of the store becomes an
 * {@link UnavailableError}, with the failure as its cause.
 */
export function reportStoreFailures<Args extends unknown[], Result>(
  work: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    try {
      return await work(...args);
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      throw new UnavailableError('the store of the proxy does not answer; try again later', { cause: error });
    }
  };
}

/** Compared by name, because this package must not import the stores. Not for a change whose outcome is unknown. */
function isStoreFailure(error: unknown): boolean {
  return error instanceof Error && error.name === 'StoreError';
}

/** For what the proxy asks of oidc-provider outside a request to it. Rejects with the failure of the store itself. */
export function unwrapStoreFailure(error: unknown): never {
  throw error instanceof UnavailableError && error.cause !== undefined ? error.cause : error;
}
