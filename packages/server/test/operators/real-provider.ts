/** For tests: a real OpenID provider (oidc-provider), at which persons sign in with a button. */
/// <reference path="../../../authorization/src/oidc-provider.d.ts" />
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { closeAfterTest } from '../close-after-test.ts';
import { listenOnFreePort } from '../listen.ts';
import { makeKey } from '../tokens/issuer.ts';
import { CLIENT_ID, CLIENT_SECRET } from './scripted-provider.ts';

export interface RealProvider {
  url: string;
  /** The groups of each person, by the subject. */
  persons: Map<string, string[]>;
}

/** `redirectUri`: that of the proxy. The provider prints notes about development. */
export async function startRealProvider(redirectUri: string): Promise<RealProvider> {
  const persons = new Map([['ada', ['erp-admins']]]);
  const server = createServer((request, response) => {
    const [, uid, sub] = /^\/interaction\/([\w-]+)(?:\/(\w+))?$/.exec(request.url ?? '') ?? [];
    if (uid === undefined) return provider.callback()(request, response);
    if (sub !== undefined)
      return void provider.interactionFinished(request, response, { login: { accountId: sub } });
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    const links = [...persons.keys()].map(
      (name) => `<a href="/interaction/${uid}/${name}">Continue as ${name}</a>`,
    );
    response.end(
      `<!doctype html><html lang="en"><title>Provider</title><main>${links.join(' ')}</main></html>`,
    );
  });
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  closeAfterTest({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  const { privateKey, kid, alg } = makeKey('first');
  const provider: Provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' }] },
    cookies: { keys: ['key of the cookies of the provider'] },
    claims: { openid: ['sub'], profile: ['name', 'groups'], email: ['email'] },
    conformIdTokenClaims: true,
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    findAccount(_: unknown, sub: string) {
      const groups = persons.get(sub);
      return groups && { accountId: sub, claims: () => ({ sub, name: `${sub} of corp`, groups }) };
    },
    async loadExistingGrant({
      oidc,
    }: {
      oidc: { client: { clientId: string }; session: { accountId: string } };
    }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  return { url, persons };
}
