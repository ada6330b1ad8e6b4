/** A proxy in front of one scripted upstream, for the tests of this folder; all are closed after each test. */
import { afterEach } from 'vitest';
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from '../harness.ts';
import { type Script, type ScriptedUpstream, startUpstream } from '../scripted-upstream.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

export interface Pair {
  proxy: RunningProxy;
  upstream: ScriptedUpstream;
}

export async function startPair(script: Script, options: ProxyOptions = {}): Promise<Pair> {
  const upstream = await startUpstream(script);
  open.push(upstream);
  const proxy = await startProxy({ ...options, allow: [upstream.url, ...(options.allow ?? [])] });
  open.push(proxy);
  return { proxy, upstream };
}

/** How an answer of Odoo begins, and how ours does. */
export const ODOO_HEAD = '{"jsonrpc": "2.0", "id": 1, "result": ';
export const OUR_HEAD = '{"jsonrpc":"2.0","id":1,"result":';
