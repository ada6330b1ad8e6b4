/** Reads the number of requests in flight from the proxy's metrics. */
import { send } from './harness.ts';

export async function readInFlight(url: string): Promise<number> {
  const { body } = await send(`${url}/metrics`);
  return Number(/^erp_proxy_requests_in_flight (\d+)$/m.exec(body.toString())?.[1]);
}
