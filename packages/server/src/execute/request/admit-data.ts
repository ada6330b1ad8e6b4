/** Step: admits a request of a route that keeps records in memory, as long as few enough of them run. */
import type { DataRoute } from '@erp-proxy/contract';
import type { Client } from '../../keys/keys.ts';
import { type DataRequests, isBoundedRoute } from '../../limits/data-requests.ts';
import { Denial } from '../terms/denial.ts';
import type { Request } from '../terms/request.ts';

export interface AdmitDataDeps {
  dataRequests: DataRequests;
}

/** An answer with changes takes some seconds, and an export any time. */
const RETRY_AFTER_SECONDS = 5;

export function admitData({ held, made }: Request, client: Client, deps: AdmitDataDeps): Denial | null {
  const leave = enterData(client, made?.data, deps);
  if (leave instanceof Denial) return leave;
  if (leave !== null) held.defer(leave);
  return null;
}

/** Returns the function that must be called at the end; null if nothing bounds the route. */
export function enterData(
  { key: { clientId } }: Client,
  route: DataRoute | undefined,
  { dataRequests }: AdmitDataDeps,
): (() => void) | Denial | null {
  if (!isBoundedRoute(route)) return null;
  const bound = dataRequests.enter(route, clientId);
  if (bound === null) return () => dataRequests.leave(route, clientId);
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
