/** Names credentials without holding them, for memories that span calls: by a hash under a secret of the deployment. */
import { hash } from 'node:crypto';

/** Who asks, and with what. */
export interface Credentials {
  origin: string;
  pathPrefix: string;
  db: string;
  userId: number;
  apiKey: string;
  /** How the server is reached. */
  trust: { id: string } | null;
}

/** The same for the same credentials on all replicas. */
export type NameCredentials = (credentials: Credentials) => string;

export function createCredentialNames(secret: Uint8Array): NameCredentials {
  const salt = Buffer.from(secret).toString('base64');
  return ({ origin, pathPrefix, db, userId, apiKey, trust }) => {
    const named = [origin, pathPrefix, db, userId, apiKey, trust?.id];
    // The salt in front is enough: what could be appended to a hashed text (length extension) is no JSON.
    return hash('sha256', salt + JSON.stringify(named), 'base64');
  };
}
