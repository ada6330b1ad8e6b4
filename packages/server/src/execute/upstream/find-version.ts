/**
 * Asks a server for its version over `/jsonrpc`, which leaves nothing on the server. Only if the server has no
 * `/jsonrpc`, reads its version page (docs/odoo-facts.md#version-pages).
 */

import type { EgressRequest, WholeAnswer } from '@erp-proxy/egress';
import {
  isRouteMissing,
  type OdooVersion,
  readJsonrpcVersion,
  readJsonVersion,
  VERSION_BODY,
} from '@erp-proxy/odoo/servers';
import { Denial } from '../terms/denial.ts';
import type { Protocol } from '../terms/method-call.ts';
import type { ServerAddress } from '../terms/target.ts';
import { denyStatus } from './upstream-status.ts';

/** A request for the version changes nothing. */
export const READ_ONLY = { isReadOnly: true };

export type FetchAnswer = (
  protocol: Protocol,
  request: Omit<EgressRequest, 'origin'>,
) => Promise<WholeAnswer | Denial>;

export async function findVersion(server: ServerAddress, fetch: FetchAnswer): Promise<OdooVersion | Denial> {
  const answer = await fetch('jsonrpc', {
    method: 'POST',
    path: `${server.pathPrefix}/jsonrpc`,
    headers: { 'content-type': 'application/json' },
    body: VERSION_BODY,
  });
  if (answer instanceof Denial) return answer;
  if (answer.status === 200) return readJsonrpcVersion(answer.body) ?? denyStatus(answer, READ_ONLY);
  if (!isRouteMissing(answer)) return denyStatus(answer, READ_ONLY);
  const page = await fetchPage(server, fetch);
  if (page instanceof Denial) return page;
  return (page.status === 200 ? readJsonVersion(page.body) : null) ?? denyStatus(page, READ_ONLY);
}

export function fetchPage({ pathPrefix }: ServerAddress, fetch: FetchAnswer): Promise<WholeAnswer | Denial> {
  return fetch('json2', { method: 'GET', path: `${pathPrefix}/json/version`, headers: {}, body: null });
}
