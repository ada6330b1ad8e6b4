/** A request as the routes see it. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly contentType: string | undefined;
  readonly authorization: string | undefined;
  /** X-Odoo-Database. */
  readonly database: string | undefined;
  readonly ifNoneMatch: string | undefined;
  /** A Content-Length was sent: json2 takes no body without. */
  readonly hasLength: boolean;
  /** Where the request came from. */
  readonly address: string;
  /** undefined: the client stalled before its body was whole. */
  readonly body: Buffer | undefined;
}
