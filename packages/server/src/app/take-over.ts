/**
 * How secrets that change while the proxy runs are taken over: by new connections, by the next request, or not without
 * a restart. No call in flight is affected.
 */
import { hkdfSync } from 'node:crypto';
import { hostname } from 'node:os';
import { SECRET } from '@erp-proxy/admin';
import { type Audit, PROXY_ACTOR } from '@erp-proxy/control/audit';
import { createVault, type RenewableVault } from '@erp-proxy/control/instances';
import type { SettingName } from '../config/schema.ts';
import type { Taker } from '../config/secret-files.ts';
import type { Replicas } from './replicas.ts';
import type { Services } from './services.ts';

interface Parts {
  services: Services;
  replicas: Replicas | null;
  /** Seals the sessions of operators; null: nobody signs in. */
  sessionSeals: RenewableVault | null;
  /** What sends to the collector. */
  collectors: readonly { useHeaders(headers: readonly string[]): void }[];
}

/** The secrets that no taker names need a restart. */
export function listTakers({ services, replicas, sessionSeals, collectors }: Parts): Taker[] {
  const { store, keys } = services;
  const takers: Taker[] = [
    {
      names: ['vault.masterKey', 'vault.otherMasterKeys'],
      take: (next, current) => services.takeMasterKeys(next.vault, current.vault),
    },
    // Read at each request.
    { names: ['admin.token'], take: async () => {} },
    {
      names: ['operators.clientSecret'],
      async take(next, current) {
        const [masterKey, former] = [next, current].map(({ operators }) =>
          deriveSessionKey(operators.clientSecret ?? '', keys),
        );
        sessionSeals?.renew({ masterKey: masterKey!, otherMasterKeys: [former!] });
      },
    },
    {
      names: ['otel.headers'],
      async take({ otel }) {
        for (const collector of collectors) collector.useHeaders(otel.headers);
      },
    },
  ];
  if (store.takeLogin !== undefined) {
    takers.push({ names: ['store.url'], take: async (next) => store.takeLogin?.(next.store.url) });
  }
  if (replicas !== null) {
    takers.push({ names: ['redis.url'], take: async ({ redis }) => replicas.takeLogin(redis.url ?? '') });
  }
  return takers;
}

/** The record of a takeover. Each process takes over by itself, so its name is part of the record. */
export function describeTakeover(setting: SettingName): Parameters<Audit['queueAdminAction']>[0] {
  return {
    actor: PROXY_ACTOR,
    address: null,
    requestId: null,
    action: 'setting.reload',
    target: `setting ${setting}`,
    changes: {
      value: { from: SECRET, to: SECRET },
      process: { from: null, to: `${hostname()} ${process.pid}` },
    },
  };
}

/**
 * Needs the secret of the client, which is not in the store, so that a copy of the store opens no session and makes
 * none. A client secret that can be guessed does not suffice either.
 */
export function openSessionSeals(clientSecret: string, keys: Services['keys']): RenewableVault {
  return createVault({ masterKey: deriveSessionKey(clientSecret, keys), otherMasterKeys: [] })!;
}

function deriveSessionKey(clientSecret: string, keys: Services['keys']): string {
  const salt = keys.deriveSecret('sessions of operators');
  const key = hkdfSync('sha256', clientSecret, salt, 'erp-proxy sessions of operators v1', 32);
  return Buffer.from(key).toString('base64');
}
