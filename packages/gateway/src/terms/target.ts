/** The server, database and credentials of a call. */

import type { Connection } from '@erp-proxy/control/connections';
import type { Instance } from '@erp-proxy/control/instances';
import type { EgressTrust } from '@erp-proxy/egress';
import type { BaseUrl } from '@erp-proxy/egress/policy';

/** Address of a server: origin and path. */
export type ServerAddress = BaseUrl;

/** Server, database and user as a caller writes them. */
export interface InstanceAddress {
  url: string;
  db: string;
  userId: number;
  apiKey: string;
}

/** The server of a call: address and credentials, or the name of a stored instance. */
export type NamedInstance = InstanceAddress | { name: string };

/** A server with database and credentials that the egress rules allow, as far as is known before a DNS lookup. */
export interface Target extends ServerAddress {
  db: string;
  userId: number;
  apiKey: string;
  /** Certificates and address rules of a stored instance; null if the general ones apply. */
  trust: EgressTrust | null;
  /** Null if the caller sent address and credentials. */
  instance: Instance | null;
  /** The person as whose user the call runs; null: as the user of the instance, or of the caller's credentials. */
  connection: Connection | null;
  /** Identifies the credentials without containing them (call/resolve.ts). */
  credentialsId: string;
}
