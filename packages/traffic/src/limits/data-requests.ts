/**
 * Limits the number of running requests of routes that keep records in memory: in this process, and for each client in
 * it. The permits of databases do not limit them, because they also keep records between their calls on Odoo.
 */
import { KeyedSemaphore } from './keyed-semaphore.ts';

/**
 * The routes that keep records, answers or a document. File routes pass bytes on as they arrive, and bodies have a
 * separate limit.
 */
const BOUNDED_ROUTES = ['export', 'changes', 'documents', 'fleet'] as const;

export type BoundedRoute = (typeof BOUNDED_ROUTES)[number];

export interface DataRequestsMax {
  /** Maximum number of requests of each route, in this process. */
  process: number;
  /** Maximum number of requests of each route and client, in this process. */
  client: number;
}

export class DataRequests {
  readonly #max: DataRequestsMax;
  readonly #running: Record<BoundedRoute, number> = { export: 0, changes: 0, documents: 0, fleet: 0 };
  readonly #ofClients = new KeyedSemaphore();

  constructor(max: DataRequestsMax) {
    this.#max = max;
  }

  /** Number of running requests, by route. */
  get running(): Readonly<Record<BoundedRoute, number>> {
    return this.#running;
  }

  /** Admits a request, or returns the limit that refuses it. Each admitted request needs one `leave`. */
  enter(route: BoundedRoute, clientId: string): keyof DataRequestsMax | null {
    if (!this.#ofClients.tryAcquire(nameHolder(route, clientId), this.#max.client)) return 'client';
    if (this.#running[route] >= this.#max.process) {
      this.#ofClients.release(nameHolder(route, clientId));
      return 'process';
    }
    this.#running[route]++;
    return null;
  }

  leave(route: BoundedRoute, clientId: string): void {
    this.#running[route]--;
    this.#ofClients.release(nameHolder(route, clientId));
  }
}

export function isBoundedRoute(route: string | undefined): route is BoundedRoute {
  return BOUNDED_ROUTES.some((bounded) => bounded === route);
}

function nameHolder(route: BoundedRoute, clientId: string): string {
  return `${route} ${clientId}`;
}
