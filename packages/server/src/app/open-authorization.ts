/** Connects the authorization server with the services of the app. */
import { createActionDescriber } from '@erp-proxy/admin';
import type { Operators } from '@erp-proxy/admin/operators';
import type { Authorization } from '@erp-proxy/authorization/terms';
import { NOBODY } from '@erp-proxy/control/audit';
import { createSigningKeys, type SigningKeys } from '@erp-proxy/control/consents';
import type { OwnIssuer, SignIn } from '@erp-proxy/control/tokens/issuers';
import { describeError, type Logger } from '@erp-proxy/observe/log';
import type { Services } from './services.ts';

export function openSigningKeys(
  { store, signInVault: vault }: Services,
  { clock, logger }: { clock: () => number; logger: Logger },
): SigningKeys {
  const onError = (error: unknown) => logger.error('signing keys', { err: describeError(error) });
  return createSigningKeys({ store: store.signInObjects, vault, clock, onError });
}

/** The proxy as an issuer of tokens. */
export function describeOwnIssuer(
  { url, issuers }: SignIn,
  signingKeys: SigningKeys,
  { consents }: Services,
): OwnIssuer {
  return {
    url,
    issuers,
    publishKeys: () => signingKeys.readPublished(),
    findConsent: (id) => consents.find(id),
  };
}

/** Loads the authorization server, which no other setting needs. */
export async function openAuthorization(
  signIn: SignIn,
  signingKeys: SigningKeys,
  operators: Operators | null,
  services: Services,
  { clock, nowMs, logger }: { clock: () => number; nowMs: () => number; logger: Logger },
): Promise<Authorization> {
  const { createAuthorization } = await import('@erp-proxy/authorization');
  const { store, keys, connections, consents, instances, audit, egress } = services;
  const authorization = createAuthorization({
    signIn,
    consents,
    signingKeys,
    leases: store.leases,
    objects: store.signInObjects,
    vault: services.signInVault,
    deriveSecret: (purpose) => keys.deriveSecret(purpose),
    egress,
    isDenied: async (person) => (await store.deniedSubjects.find(person)) !== null,
    async isSignedOut({ id, providerSession }, since) {
      if (providerSession !== null && (await store.operators.hasEnded([providerSession]))) return true;
      const person = await store.operators.find(id);
      return person !== null && since <= person.endedUntil;
    },
    askProvider: async (refreshToken) => ({ ...(await operators!.askAgain(refreshToken)), serverId: null }),
    async findServer(name, person) {
      const instance = await instances.find(name);
      const isConnected = (await connections.get(person, name)) !== null;
      return instance?.identity === 'person' && isConnected ? instance.serverId : null;
    },
    async signInByOdoo(instance, credentials, sender) {
      const person = await services.signInByOdoo(instance, credentials, sender);
      if (typeof person === 'string') {
        const { address, requestId } = sender;
        audit.recordLogin({
          ...{ actor: NOBODY, address, requestId, action: 'login.refused' },
          ...{ way: 'odoo', isRefused: true },
        });
        return person;
      }
      return { ...person, claims: {}, refreshToken: null, providerSession: null, askAt: 0 };
    },
    describeActionOf: (actor) => createActionDescriber(audit, actor),
    describeOwnAction: services.describeOwnAction,
    clock,
    nowMs,
    onError: (error) => logger.error('authorization server', { err: describeError(error) }),
    onEnded: (ended) => logger.warn('application ended', ended),
  });
  await authorization.prepare();
  return authorization;
}
