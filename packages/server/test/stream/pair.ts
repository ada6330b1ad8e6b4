/** Starts a pair that is closed after its test, and has the first bytes of the answers of Odoo and the proxy. */
import { closeAfterTest } from '../close-after-test.ts';
import type { ProxyOptions } from '../harness.ts';
import { type Pair, startPair as startOpenPair } from '../pair.ts';
import type { Script } from '../scripted-upstream.ts';

export async function startPair(script: Script, options: ProxyOptions = {}): Promise<Pair> {
  return closeAfterTest(await startOpenPair(script, options));
}

export const ODOO_HEAD = '{"jsonrpc": "2.0", "id": 1, "result": ';
export const OUR_HEAD = '{"jsonrpc":"2.0","id":1,"result":';
