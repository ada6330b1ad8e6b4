/**
 * Whether the person of a consent may go on, when an application asks for a new token: the provider is asked again at
 * intervals, as for sessions of operators. Knows no protocol.
 */
import { randomUUID } from 'node:crypto';
import { ProviderError } from '@erp-proxy/admin/operators';
import { delay, SingleFlight } from '@erp-proxy/async/tasks';
import type { Consent, Consents } from '@erp-proxy/control/consents';
import { findRule, type SignIn } from '@erp-proxy/control/tokens/issuers';
import type { LeaseStore } from '@erp-proxy/stores/ports';
import type { SignedInPerson } from './terms.ts';

/** Time after which consents end to go on while the provider does not answer, from when it must be asked. */
const AWAY_MS = 4 * 3_600_000;
/** Longer than the requests to the provider take. If a process dies meanwhile, another one asks after this time. */
const ASKING_MS = 60_000;
const POLL_MS = 200;

export interface ConfirmDeps {
  signIn: SignIn;
  consents: Pick<Consents, 'read' | 'update'>;
  leases: LeaseStore;
  /** Whether an administrator has denied the person. Rejects if the store fails. */
  isDenied: (person: string) => Promise<boolean>;
  /** Asks the provider again. Rejects with a {@link ProviderError}. */
  askProvider: (refreshToken: string) => Promise<SignedInPerson>;
  /**
   * Name of the server of an instance with the identity `person`, to which the person is connected. Null: there is no
   * such instance or connection.
   */
  findServer: (instance: string, person: string) => Promise<string | null>;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** A monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** `denied`: as long as an administrator denies the person. `reason`: why the consent ends. */
export type Confirmation = 'confirmed' | 'away' | 'denied' | { reason: string };

export function createConfirm({
  signIn,
  consents,
  leases,
  isDenied,
  askProvider,
  findServer,
  clock,
  nowMs,
}: ConfirmDeps): (consent: Consent) => Promise<Confirmation> {
  const asking = new SingleFlight<Confirmation>();

  /**
   * One process asks, and the others take what it has stored: many providers accept a refresh token once, and end the
   * session if it comes again.
   */
  async function askAlone(id: string): Promise<Confirmation> {
    const lease = `consent ${id}`;
    const owner = randomUUID();
    const beganAt = nowMs();
    while (!(await leases.acquire(lease, owner, ASKING_MS))) {
      if (nowMs() - beganAt > ASKING_MS) return 'away';
      await delay(POLL_MS);
    }
    try {
      const consent = await consents.read(id);
      if (consent === null) return { reason: 'it was withdrawn' };
      return clock() < consent.askAt ? 'confirmed' : await ask(consent);
    } finally {
      await leases.release(lease, owner);
    }
  }

  async function ask(consent: Consent): Promise<Confirmation> {
    const { refreshToken } = consent;
    if (refreshToken === null) return { reason: 'the provider has issued no refresh token' };
    try {
      const person = await askProvider(refreshToken);
      if (person.id !== consent.person) return { reason: 'the provider answered for somebody else' };
      const now = clock();
      const isKept = await consents.update(consent, {
        claims: person.claims,
        refreshToken: person.refreshToken ?? refreshToken,
        askAt: person.askAt,
        confirmedAt: now,
      });
      if (!isKept) return { reason: 'it was withdrawn' };
      return findRule(signIn.issuers.get(readProvider(consent))!.rules, person.claims) === null
        ? { reason: 'no rule of auth.issuers matches its person any more' }
        : 'confirmed';
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.fault !== 'away') return { reason: error.message };
      return clock() < consent.askAt + AWAY_MS ? 'confirmed' : 'away';
    }
  }

  return async (consent) => {
    const provider = readProvider(consent);
    if (!signIn.issuers.has(provider)) return { reason: `signIn does not have ${provider} any more` };
    if (await isDenied(consent.person)) return 'denied';
    if (consent.serverId !== null) {
      const server = await findServer(provider.slice(provider.indexOf(':') + 1), consent.person);
      if (server === null) return { reason: 'the instance, or the connection of its person, was removed' };
      return server === consent.serverId ? 'confirmed' : { reason: 'the instance has another server now' };
    }
    if (clock() < consent.askAt) return 'confirmed';
    return asking.run(consent.id, () => askAlone(consent.id));
  };
}

function readProvider({ person }: Pick<Consent, 'person'>): string {
  return person.slice(0, person.indexOf('/'));
}
