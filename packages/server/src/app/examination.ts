/** Creates the parts that examine/examine.ts needs, from the settings. No state is kept between two examinations. */
import { randomBytes } from 'node:crypto';
import type { Examination } from '@erp-proxy/contract';
import type { Instance } from '@erp-proxy/control/instances';
import type { EgressDispatcher, EgressTrust } from '@erp-proxy/egress';
import { parseBaseUrl } from '@erp-proxy/egress/policy';
import { createCredentialNames } from '@erp-proxy/gateway/call';
import { examineServer, NOTHING_FOUND, type OnCheck } from '@erp-proxy/gateway/examine';
import { createProtocolChoice, Servers } from '@erp-proxy/gateway/upstream';
import type { Settings } from '../config/schema.ts';

export interface Credentials {
  db: string;
  /** Not used if `login` is given. */
  userId: number;
  /** Login of the user, to find the id by it. */
  login?: string | null;
  apiKey: string;
}

export interface Address {
  url: string;
  credentials: Credentials | null;
  trust?: EgressTrust | null;
  /** The stored instance, if the address belongs to one. */
  instance?: Instance;
  /** Time limit of each request; null: the limit of calls. */
  timeoutMs?: number | null;
  onCheck?: OnCheck | undefined;
}

/** Used if there are no credentials. No database and no key has this name. */
const NO_CREDENTIALS: Credentials = { db: 'none', userId: 0, apiKey: 'none' };

export async function examineAddress(
  { url, credentials, trust = null, instance, timeoutMs = null, onCheck }: Address,
  { egress: { allow }, upstream, errors }: Pick<Settings, 'egress' | 'upstream' | 'errors'>,
  egress: EgressDispatcher,
): Promise<Examination> {
  const base = parseBaseUrl(url);
  if ('problem' in base) {
    const check = { name: 'url', state: 'failed', text: `The address ${base.problem}.` } as const;
    onCheck?.(check);
    return { ok: false, checks: [check], ...NOTHING_FOUND };
  }
  const { login = null, ...user } = credentials ?? NO_CREDENTIALS;
  const target = { ...base, ...user, trust, connection: null };
  const nameCredentials = createCredentialNames(randomBytes(32));
  const nowMs = () => performance.now();
  return examineServer(
    {
      target: {
        ...target,
        instance: instance ?? null,
        credentialsId: nameCredentials({ ...target, person: null }),
      },
      hasCredentials: credentials !== null,
      login,
      timeoutMs: timeoutMs ?? upstream.timeoutMs,
      onCheck,
    },
    {
      allow,
      egress,
      nowMs,
      clock: Date.now,
      protocolFor: createProtocolChoice(upstream),
      servers: new Servers({
        egress,
        nowMs,
        timeoutMs: upstream.timeoutMs,
        bytesMax: upstream.answerBytesMax,
      }),
      settings: { answerBytesMax: upstream.answerBytesMax, isDebug: errors.debug },
    },
  );
}

/** `given`: the user to check; default: that of the instance. */
export function examineInstance(
  instance: Instance,
  settings: Parameters<typeof examineAddress>[1],
  egress: EgressDispatcher,
  onCheck?: OnCheck,
  given: Omit<Credentials, 'db'> | null = null,
): Promise<Examination> {
  const { url, db, userId, apiKey, trust, timeoutMs } = instance;
  // An instance for persons has no user of its own, so that only its server is checked.
  const own = userId === null || apiKey === null ? null : { userId, apiKey };
  const user = given ?? own;
  const credentials = user && { db, ...user };
  return examineAddress({ url, credentials, trust, instance, timeoutMs, onCheck }, settings, egress);
}
