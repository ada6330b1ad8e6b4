/** A request that has passed the router and waits for the load shedder. */
import type { ServerResponse } from 'node:http';
import type { SheddableRequest } from './shedding/load-shedder.ts';

export class RoutedRequest implements SheddableRequest {
  readonly #response: ServerResponse;
  readonly admit: () => void;
  readonly refuse: () => void;

  constructor(response: ServerResponse, { admit, refuse }: Pick<SheddableRequest, 'admit' | 'refuse'>) {
    this.#response = response;
    this.admit = admit;
    this.refuse = refuse;
  }

  get hasCallerLeft(): boolean {
    return this.#response.destroyed;
  }
}
