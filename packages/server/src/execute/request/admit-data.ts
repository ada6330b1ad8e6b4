/** Step: admits a request of a route that keeps records in memory, as long as few enough of them run. */
import type { DataRoute } from '@erp-proxy/contract';
import type { Client } from '../../keys/keys.ts';
import { type DataRequests, isBoundedRoute } from '../../limits/data-requests.ts';
import { Denial } from '../terms/denial.ts';

/** An answer with changes takes some seconds, and an export any time. */
const RETRY_AFTER_SECONDS = 5;

/** Returns the function that must be called at the end of the request; null if nothing bounds it. */
export function admitData(
  { key: { clientId } }: Client,
  route: DataRoute | undefined,
  requests: DataRequests,
): (() => void) | Denial | null {
  if (!isBoundedRoute(route)) return null;
  const bound = requests.enter(route, clientId);
  if (bound === null) return () => requests.leave(route, clientId);
  return bound === 'client' ? CLIENT_FULL : PROCESS_FULL;
}

const CLIENT_FULL = new Denial(
  'rate_limited',
  'The client runs as many requests of this route as it may at once; send this one when another has ended.',
  { retryAfterSeconds: RETRY_AFTER_SECONDS, detail: 'data.clientRequestsMax' },
);

const PROCESS_FULL = new Denial(
  'overloaded',
  `The proxy runs as many requests of this route as it has memory for; send this one again in ${RETRY_AFTER_SECONDS} s.`,
  { outcome: 'not_sent', retryAfterSeconds: RETRY_AFTER_SECONDS, detail: 'data.requestsMax' },
);
