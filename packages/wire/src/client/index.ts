/** Sends requests of HTTP/1.1 on guarded connections. The README of this package has what it promises. */
export { Connection, type ConnectionOwner } from './connection.ts';
export type { Guard } from './destination.ts';
export { Dialer } from './dialer.ts';
export type { SendOptions, WireAnswer, WireFailure, WireRequest } from './messages.ts';
export { buildRequest } from './request-bytes.ts';
