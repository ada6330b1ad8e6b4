/** Creates identifiers of credentials that do not contain them: a hash, salted with a secret of the deployment. */
import { hash } from 'node:crypto';

/** The credentials of a call, and the server that they are for. */
export interface Credentials {
  origin: string;
  pathPrefix: string;
  db: string;
  userId: number;
  apiKey: string;
  /** Certificates and address rules for the connection; null if the general ones apply. */
  trust: { id: string } | null;
}

/** Equal credentials get equal identifiers on all replicas. */
export type NameCredentials = (credentials: Credentials) => string;

export function createCredentialNames(secret: Uint8Array): NameCredentials {
  const salt = Buffer.from(secret).toString('base64');
  return ({ origin, pathPrefix, db, userId, apiKey, trust }) => {
    const named = [origin, pathPrefix, db, userId, apiKey, trust?.id];
    // A salt in front is enough, because a text extended by a length extension attack would not be JSON.
    return hash('sha256', salt + JSON.stringify(named), 'base64');
  };
}
