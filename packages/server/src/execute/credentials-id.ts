/** Names credentials without holding them: a hash under a salt of this process, for memories that span calls. */
import { hash, randomBytes } from 'node:crypto';

const salt = randomBytes(16).toString('base64');

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

export function nameCredentials({ origin, pathPrefix, db, userId, apiKey, trust }: Credentials): string {
  const named = [origin, pathPrefix, db, userId, apiKey, trust?.id];
  return hash('sha256', salt + JSON.stringify(named), 'base64');
}
