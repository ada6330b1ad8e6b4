/** Two workers of by-hand-undici.ts, whose connections Node's cluster shares out like those of the proxy's workers. */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const WORKERS = 2;

export async function start(upstreamPort: number): Promise<number> {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('../subject-process.ts', import.meta.url)),
    args: ['by-hand-undici', String(upstreamPort)],
  });
  const ports = await Promise.all(Array.from({ length: WORKERS }, () => once(cluster.fork(), 'message')));
  return ports[0]?.[0] as number;
}
