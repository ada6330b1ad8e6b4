/** Sends one JSON POST from the command line, through the egress guard like all outgoing requests. */
import {
  createEgressDispatcher,
  type EgressDispatcher,
  type EgressFailure,
  fetchWhole,
  type WholeAnswer,
} from '@erp-proxy/egress';
import { parseEgressPolicy } from '@erp-proxy/egress/policy';

const TIMEOUT_MS = 310_000;
const ANSWER_BYTES_MAX = 1024 ** 3;

/** A dispatcher that allows only the origin that the operator named. */
export function createDispatcherTo(origin: string): EgressDispatcher {
  const { policy } = parseEgressPolicy([origin]);
  return createEgressDispatcher({ allow: policy, connectTimeoutMs: 5000, firstByteTimeoutMs: null });
}

export interface PostOptions {
  /** Headers in addition to the content type. */
  headers?: Record<string, string>;
  /** Maximum bytes of the answer. Default: 1 GiB. */
  bytesMax?: number;
  signal?: AbortSignal | undefined;
}

/** Sends the body and reads the whole answer. An answer that is too large, incomplete or cancelled is a failure. */
export function postJson(
  egress: EgressDispatcher,
  url: URL,
  body: Uint8Array | string,
  { headers = {}, bytesMax = ANSWER_BYTES_MAX, signal }: PostOptions = {},
): Promise<WholeAnswer | EgressFailure> {
  const inTime = AbortSignal.timeout(TIMEOUT_MS);
  return fetchWhole(
    egress,
    {
      method: 'POST',
      origin: url.origin,
      path: url.pathname,
      headers: { 'content-type': 'application/json', ...headers },
      body: Buffer.from(body),
    },
    { signal: signal === undefined ? inTime : AbortSignal.any([inTime, signal]), bytesMax },
  );
}
