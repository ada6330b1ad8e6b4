/** Converts stored keys and instances to the views that administrators see. */
import {
  type ActorView,
  type InstanceView,
  type KeyState,
  type KeyView,
  type OwnApplicationView,
  type OwnConnectionView,
  tryParse,
  type UpstreamView,
} from '@erp-proxy/contract';
import { pickShownMembers } from '@erp-proxy/contract/admin';
import { readActor } from '@erp-proxy/control/audit';
import type { ConnectionRecord } from '@erp-proxy/control/connections';
import type { ConsentRecord } from '@erp-proxy/control/consents';
import { type Instance, type InstanceRecord, toMembers } from '@erp-proxy/control/instances';
import { checkKey } from '@erp-proxy/control/key-rotation';
import { readStoredPolicy, StoredPolicyError } from '@erp-proxy/control/keys';
import type { KeyRecord } from '@erp-proxy/stores/ports';
import { showTime, showTimeOrNull } from './time.ts';

export function showKey(key: KeyRecord, now: number): KeyView {
  return {
    id: key.id,
    client_id: key.clientId,
    name: key.name,
    state: checkState(key, now),
    policy: showPolicy(key),
    for: key.person,
    created_at: showTime(key.createdAt),
    created_by: readCreator(key),
    expires_at: showTimeOrNull(key.expiresAt),
    last_used_at: showTimeOrNull(key.lastUsedAt),
    revoked_at: showTimeOrNull(key.revokedAt),
    replaces: key.replaces,
    version: key.version,
  };
}

export function showInstance(instance: InstanceRecord, now: number): InstanceView {
  const { name, key, rotateKey, createdAt, updatedAt, version } = instance;
  return {
    name,
    ...pickShownMembers(toMembers(instance)),
    key: {
      expires_at: showTimeOrNull(key.expiresAt),
      state: instance.identity === 'person' ? 'none' : checkKey(key, now),
      rotate: rotateKey,
      failure: key.failure,
    },
    created_at: showTime(createdAt),
    updated_at: showTime(updatedAt),
    version,
  };
}

export function showApplication(consent: ConsentRecord): OwnApplicationView {
  const { id, name, application, address, scopes, createdAt, usedAt, expiresAt } = consent;
  return {
    id,
    name,
    application,
    address,
    scopes: [...scopes],
    created_at: showTime(createdAt),
    used_at: showTime(usedAt),
    expires_at: showTime(expiresAt),
  };
}

/** `instance`: as it is now; null if there is none. */
export function showConnection(
  connection: ConnectionRecord,
  instance: Pick<Instance, 'serverId' | 'rotateKey'> | null,
): OwnConnectionView {
  return {
    instance: connection.instance,
    state: connection.serverId === instance?.serverId ? 'connected' : 'moved',
    login: connection.login,
    user_id: connection.userId,
    key_expires_at: showTimeOrNull(connection.keyExpiresAt),
    // Not promised while it fails, as on a server that makes no keys by call.
    key_renewed:
      connection.keyExpiresAt !== null && connection.keyFailure === null && instance?.rotateKey === true,
    created_at: showTime(connection.createdAt),
    updated_at: showTime(connection.updatedAt),
  };
}

/** State of one upstream database in the limiters. */
interface UpstreamState extends Pick<UpstreamView, 'database' | 'running' | 'waiting' | 'limit' | 'breaker'> {
  backgroundRunning: number;
  backgroundWaiting: number;
  retryAfterSeconds: number;
  /** Usual time of a call; 0 while unknown. */
  usualMs: number;
}

const UPSTREAMS_SHOWN_MAX = 1_000;

export function showUpstreams(
  states: readonly UpstreamState[],
  describeServer: (database: string) => Pick<UpstreamView, 'version' | 'protocol'>,
): UpstreamView[] {
  return states
    .slice(0, UPSTREAMS_SHOWN_MAX)
    .map(({ retryAfterSeconds, backgroundRunning, backgroundWaiting, usualMs, ...state }) => ({
      ...state,
      background_running: backgroundRunning,
      background_waiting: backgroundWaiting,
      retry_after_seconds: retryAfterSeconds,
      ...describeServer(state.database),
      answer_ms: usualMs === 0 ? null : Math.round(usualMs),
    }));
}

/** Who made a key, a token or a subscription; null: the store does not tell. */
export function readCreator({ createdBy }: { createdBy: string | null }): ActorView | null {
  return createdBy === null ? null : readActor(tryParse(createdBy));
}

/** The state of a key or a token. */
export function checkState(
  { revokedAt, expiresAt }: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>,
  now: number,
): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

function showPolicy(key: KeyRecord): KeyView['policy'] {
  try {
    return readStoredPolicy(key);
  } catch (error) {
    if (error instanceof StoredPolicyError) return { unreadable: error.reason };
    throw error;
  }
}
