/** Starts a proxy and one scripted upstream that it may reach. */
import { type ProxyOptions, type Proxy as RunningProxy, startProxy } from './harness.ts';
import { answerTrue, type Script, type ScriptedUpstream, startUpstream } from './scripted-upstream.ts';

export interface Pair {
  proxy: RunningProxy;
  upstream: ScriptedUpstream;
  close(): Promise<void>;
}

/** The default script answers every call with `true`. */
export async function startPair(script: Script = answerTrue, options: ProxyOptions = {}): Promise<Pair> {
  const upstream = await startUpstream(script);
  const proxy = await startProxy({ ...options, allow: [upstream.url, ...(options.allow ?? [])] });
  return {
    proxy,
    upstream,
    async close() {
      await proxy.close();
      await upstream.close();
    },
  };
}
