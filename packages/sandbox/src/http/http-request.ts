/** The parts of a request that the routes use. */
import type { Body } from './collect-body.ts';

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  /** X-Odoo-Database. */
  readonly database: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** Whether there was a Content-Length; json2 ignores a body without it. */
  readonly hasLength: boolean;
  /** Address of the caller. */
  readonly address: string;
  /** undefined: the client stalled before the body was complete. */
  readonly body: Body | undefined;
}
