/** Pairs that are closed after each test of this folder, and how the answers of both begin. */
import { afterEach } from 'vitest';
import type { ProxyOptions } from '../harness.ts';
import { type Pair, startPair as startOpenPair } from '../pair.ts';
import type { Script } from '../scripted-upstream.ts';

const open: Pair[] = [];
afterEach(async () => {
  for (const pair of open.splice(0).reverse()) await pair.close();
});

export async function startPair(script: Script, options: ProxyOptions = {}): Promise<Pair> {
  const pair = await startOpenPair(script, options);
  open.push(pair);
  return pair;
}

/** How an answer of Odoo begins, and how ours does. */
export const ODOO_HEAD = '{"jsonrpc": "2.0", "id": 1, "result": ';
export const OUR_HEAD = '{"jsonrpc":"2.0","id":1,"result":';
