/** Step: answers and records a request that is refused as a whole. */
import { ALL_ERRORS, nameActor } from '@erp-proxy/contract';
import type { Events, RefusalRecord } from '@erp-proxy/observe/events';
import type { Denial } from '../terms/denial.ts';
import { NULL_ID } from '../terms/parsed-body.ts';
import type { Request } from '../terms/request.ts';
import { answerDenial, CALLER_LEFT } from './answer.ts';
import { describeRequest } from './envelope.ts';
import { type StartTracedDeps, startTraced } from './start-traced.ts';

export interface RefuseDeps extends StartTracedDeps {
  events: Pick<Events, 'requestRefused'>;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** `id`: that of the body, if it is known. */
export function refuse(denial: Denial, request: Request, deps: RefuseDeps, id: Uint8Array = NULL_ID): void {
  const { exchange, dialect, time, actor, client } = request;
  // The clock may not run yet. A caller that does not read its refusal must not keep the request for ever.
  if (time.dueMs === Number.POSITIVE_INFINITY) time.start(null);
  const { requestId, writer } = exchange;
  // A caller without a valid key must not learn how long the check took.
  const headers = client === null ? {} : describeRequest(request, deps.nowMs());
  // Calls fail because their caller has left. The record must not blame Odoo or the proxy for that.
  const hasCallerLeft = time.deadline.reason === 'caller_left' && 'hasOutcome' in ALL_ERRORS[denial.type];
  const { type, httpStatus, rule, detail } = hasCallerLeft
    ? CALLER_LEFT
    : answerDenial(denial, { id, writer, headers, dialect });
  const refusal: RefusalRecord = {
    requestId,
    keyId: client?.key.id ?? null,
    clientId: client?.key.clientId ?? null,
    address: (actor ?? exchange).address,
    outcome: type,
    rule: rule ?? null,
    refusedKey: denial.more.refusedKey ?? null,
    ...(actor === null ? null : { actor: nameActor(actor) }),
    httpStatus,
    detail: detail ?? null,
  };
  deps.events.requestRefused(refusal);
  // Callers without a key must not fill the queue of spans.
  if (client !== null && request.traced === null) startTraced('refused', request, deps);
  request.traced?.refuse(refusal);
}
