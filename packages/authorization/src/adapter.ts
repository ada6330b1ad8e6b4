/**
 * The store of oidc-provider (https://github.com/panva/node-oidc-provider, example/my_adapter.js): keeps its models as
 * objects, and consents in place of its grants. No session is kept: each application asks the person anew.
 */
import type { Consents } from '@erp-proxy/control/consents';
import { errors } from 'oidc-provider';
import type { Content, Objects } from './objects.ts';
import type { RefreshTokens } from './refresh-tokens.ts';
import { reportStoreFailures } from './unavailable.ts';

export interface AdapterDeps {
  objects: Objects;
  consents: Pick<Consents, 'read'>;
  refreshTokens: RefreshTokens;
  /** Ends a consent with all tokens. Does nothing if there is none. */
  endConsent: (id: string, reason: string) => Promise<void>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

export interface Adapter {
  upsert(id: string, payload: Content, expiresIn?: number): Promise<void>;
  find(id: string): Promise<Content | undefined>;
  findByUid(uid: string): Promise<Content | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** Registered applications to which somebody has agreed. */
export const CLIENT = 'Client';
/** Other registered applications. Anybody can register some, so they never take the room of those above. */
export const NEW_CLIENT = 'NewClient';
const REFRESH_TOKEN = 'RefreshToken';
/** Sign-ins that have begun. With more, the ones that expire first end. */
const INTERACTIONS_MAX = 5000;
/** Time for which a used code or token is remembered. A refresh token is known as used beyond it. */
const USED_MS = 3_600_000;

const NOTHING: Adapter = {
  upsert: async () => {},
  find: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => {},
  destroy: async () => {},
  revokeByGrantId: async () => {},
};

/** Returns the adapter of a model. */
export function createAdapters(deps: AdapterDeps) {
  const { objects, consents, refreshTokens, endConsent, clock } = deps;

  const grants: Adapter = {
    ...NOTHING,
    async find(id) {
      const consent = await consents.read(id);
      if (consent === null) return undefined;
      const { person, application, scopes, resource, createdAt, expiresAt } = consent;
      return {
        kind: 'Grant',
        jti: id,
        accountId: person,
        clientId: application,
        resources: { [resource]: scopes.join(' ') },
        iat: toSeconds(createdAt),
        exp: toSeconds(expiresAt),
      };
    },
    destroy: (id) => endConsent(id, 'the application has ended it, or has used a code or a token twice'),
  };

  const createModel = (kind: string): Adapter => ({
    ...NOTHING,
    async upsert(id, payload, expiresIn = 0) {
      const consent =
        typeof payload['grantId'] === 'string' && kind !== 'Interaction' ? payload['grantId'] : null;
      const max = kind === 'Interaction' ? INTERACTIONS_MAX : null;
      const isPut = await objects.put(kind, id, {
        content: payload,
        consent,
        expiresAt: clock() + expiresIn * 1000,
        max,
      });
      if (!isPut) throw new errors.InvalidGrant('the consent has ended');
    },
    async find(id) {
      const found = await objects.find(kind, id);
      if (found !== null) {
        const { content, consumedAt } = found;
        return consumedAt === null ? content : { ...content, consumed: toSeconds(consumedAt) };
      }
      return kind === REFRESH_TOKEN ? findUsed(id) : undefined;
    },
    async consume(id) {
      if (await objects.consume(kind, id, clock() + USED_MS)) return;
      const found = await objects.find(kind, id);
      if (found?.consent != null) await endConsent(found.consent, 'a code or a token was used twice');
      throw new errors.InvalidGrant('used before');
    },
    destroy: (id) => objects.remove(kind, id),
  });

  const clients: Adapter = {
    ...NOTHING,
    async find(id) {
      return ((await objects.find(CLIENT, id)) ?? (await objects.find(NEW_CLIENT, id)))?.content;
    },
  };

  /** A refresh token that the proxy has made, and that is not kept any more: it was used, or has expired. */
  async function findUsed(id: string): Promise<Content | undefined> {
    const consentId = refreshTokens.readConsent(id);
    const consent = consentId === null ? null : await consents.read(consentId);
    if (consent === null) return undefined;
    return {
      kind: REFRESH_TOKEN,
      jti: id,
      grantId: consent.id,
      accountId: consent.person,
      clientId: consent.application,
      scope: consent.scopes.join(' '),
      resource: consent.resource,
      iat: toSeconds(consent.createdAt),
      exp: toSeconds(consent.expiresAt),
      consumed: toSeconds(clock()),
    };
  }

  return (kind: string): Adapter => {
    if (kind === 'Session') return NOTHING;
    if (kind === 'Grant') return guard(grants);
    return guard(kind === CLIENT ? clients : createModel(kind));
  };
}

function guard({ upsert, find, findByUid, consume, destroy, revokeByGrantId }: Adapter): Adapter {
  return {
    upsert: reportStoreFailures(upsert),
    find: reportStoreFailures(find),
    findByUid,
    consume: reportStoreFailures(consume),
    destroy: reportStoreFailures(destroy),
    revokeByGrantId,
  };
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
