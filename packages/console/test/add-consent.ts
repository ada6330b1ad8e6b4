import type { Proxy as RunningProxy } from '../../server/test/harness.ts';

const WEEK_MS = 7 * 86_400_000;

/** Stores that a person has allowed an application to act as them. */
export async function addConsent(
  { app }: Pick<RunningProxy, 'app'>,
  members: { person: string; name: string; application: string; address: string },
): Promise<void> {
  const now = Date.now();
  await app.consents.add({
    id: 'consent-of-this-test',
    providerSession: null,
    createdAt: now,
    expiresAt: now + WEEK_MS,
    scopes: ['erp', 'mcp'],
    resource: 'https://erp.example.com/mcp',
    claims: {},
    refreshToken: null,
    askAt: now + WEEK_MS,
    confirmedAt: now,
    serverId: null,
    ...members,
  });
}
