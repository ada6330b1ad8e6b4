/** The requests of a running proxy by which a program gets a session of a person, and ends it. */
import { programSessionView, signInView } from '@erp-proxy/contract/admin';
import { fetchWhole } from '@erp-proxy/egress';
import type { z } from 'zod';
import { createDispatcherTo } from './post.ts';
import { explainFailure, readAddress, readAnswer, readProblem, SESSION_PATH } from './remote-admin.ts';

const TIMEOUT_MS = 60_000;
const ANSWER_BYTES_MAX = 1024 ** 2;

/** Methods reject with a CommandError, or with an AdminError for a refusal of the proxy. */
export interface SessionClient {
  /** Address of the proxy. */
  readonly base: URL;
  listWaysToSignIn(): Promise<z.infer<typeof signInView>>;
  takeProgramSession(proof: { code: string; verifier: string }): Promise<z.infer<typeof programSessionView>>;
  logout(session: string): Promise<void>;
  close(): Promise<void>;
}

interface SessionRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below {@link SESSION_PATH}. */
  path: string;
  session?: string;
  body?: object;
}

export function createSessionClient(address: string): SessionClient {
  const base = readAddress(address);
  const egress = createDispatcherTo(base.origin);

  async function ask({ method, path, session, body }: SessionRequest) {
    const answer = await fetchWhole(
      egress,
      {
        method,
        origin: base.origin,
        path: `${base.pathname.replace(/\/+$/, '')}${SESSION_PATH}${path}`,
        headers: {
          ...(session === undefined ? {} : { authorization: `Bearer ${session}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: method === 'GET' ? null : Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      },
      { signal: AbortSignal.timeout(TIMEOUT_MS), bytesMax: ANSWER_BYTES_MAX },
    );
    if (!answer.ok) throw explainFailure(answer, base, false);
    if (answer.status >= 300) throw readProblem(answer, base, false);
    return answer;
  }

  async function read<Schema extends z.ZodType>(
    schema: Schema,
    request: SessionRequest,
  ): Promise<z.infer<Schema>> {
    const answer = readAnswer(await ask(request), base, (value) => schema.safeParse(value).success, false);
    return schema.parse(answer);
  }

  return {
    base,
    listWaysToSignIn: () => read(signInView, { method: 'GET', path: '/ways' }),
    takeProgramSession: (body) => read(programSessionView, { method: 'POST', path: '/program', body }),
    logout: async (session) => void (await ask({ method: 'DELETE', path: '', session })),
    close: () => egress.close(),
  };
}
