/** The client of calls that the proxy makes for itself, such as those of subscriptions without a key. */
import type { Client } from './keys.ts';

export const PROXY_CLIENT: Client = {
  key: {
    id: 'proxy',
    clientId: 'proxy',
    name: 'proxy',
    policy: null,
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    replaces: null,
    version: 1,
  },
  policy: null,
};
