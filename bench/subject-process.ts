/** Entry point of the processes of JavaScript subjects: starts the subject that is named, and reports its port. */
export interface SubjectModule {
  /** Listens on a free port of 127.0.0.1 and forwards every POST to the upstream. Returns the port. */
  start(upstreamPort: number): Promise<number>;
}

const SUBJECTS: Record<string, () => Promise<SubjectModule>> = {
  'by-hand-undici': () => import('./subjects/by-hand-undici.ts'),
  'by-hand-undici-https': () => import('./subjects/by-hand-undici-https.ts'),
  'by-hand-two-workers': () => import('./subjects/by-hand-two-workers.ts'),
  'by-hand-sockets': () => import('./subjects/by-hand-sockets.ts'),
  'fastify-http-proxy': () => import('./subjects/fastify-http-proxy.ts'),
  'http-proxy': () => import('./subjects/http-proxy.ts'),
};

const [name = '', upstreamPort] = process.argv.slice(2);
const subject = await SUBJECTS[name]?.();
if (subject === undefined) throw new Error(`no subject "${name}"`);
process.on('disconnect', () => process.exit());
process.send?.(await subject.start(Number(upstreamPort)));
