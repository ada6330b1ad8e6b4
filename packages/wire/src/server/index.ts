/** Serves plain calls on the connections of a server of Node. The README of this package has what it promises. */
export { ConnectionListener } from './connection-listener.ts';
export { NodeResponse } from './node-response.ts';
export type { BodyFailure, PlainCall } from './plain-call.ts';
export { type HttpResponse, printResponseHead } from './response.ts';
