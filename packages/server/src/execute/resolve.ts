/** Step: from what a call names to the server it runs on. Refuses addresses that the operator does not allow. */
import type { EgressDispatcher } from '../egress/dispatcher.ts';
import { readBaseUrl } from './base-url.ts';
import { nameCredentials } from './credentials-id.ts';
import { Denial } from './denial.ts';
import type { Call } from './parse.ts';
import { denyEgress } from './upstream-denials.ts';

/** A server's address. */
export interface ServerAddress {
  /** Scheme, host and port, as URL.origin prints them. */
  origin: string;
  /** What the server's paths begin with; empty or beginning with a slash, never ending with one. */
  pathPrefix: string;
}

/** The server, database and credentials of a call, judged as far as they can be without asking DNS. */
export interface Target extends ServerAddress {
  db: string;
  userId: number;
  apiKey: string;
  /** Name of the credentials, for what is remembered about them. */
  credentialsId: string;
}

export function resolveTarget(instance: Call['instance'], egress: EgressDispatcher): Target | Denial {
  if ('name' in instance) {
    return new Denial(
      'invalid_request',
      'The proxy has no instance of this name; send {"url", "db", "user_id", "api_key"} instead.',
      { path: 'erp_instance.name' },
    );
  }
  const address = resolveServer(instance.url, egress);
  if (address instanceof Denial) return address;
  const credentials = { ...address, db: instance.db, userId: instance.userId, apiKey: instance.apiKey };
  return { ...credentials, credentialsId: nameCredentials(credentials) };
}

/** The same for a question that needs no database. */
export function resolveServer(url: string, egress: EgressDispatcher): ServerAddress | Denial {
  const address = readBaseUrl(url);
  if (address instanceof Denial) return address;
  const denied = egress.judge(address.origin);
  return denied === null ? address : denyEgress(denied.detail);
}
