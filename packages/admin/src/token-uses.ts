/**
 * Recent uses of `admin.token`, from the audit. They are looked up at intervals, because the audit is searched record
 * by record.
 */
import { SingleFlightCache } from '@erp-proxy/async/tasks';
import type { AuditAdminView } from '@erp-proxy/contract';
import { type Audit, SESSION_ACTOR, TOKEN_ACTOR } from '@erp-proxy/control/audit';
import { showTime } from './time.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 60_000;
const USES_MAX = 20;

/** The token was sent, or somebody signed in with it or with a link. Each has its own record. */
const LOGINS = [
  { action: 'login.token', actor: TOKEN_ACTOR.id },
  { action: 'login.session', actor: SESSION_ACTOR.id },
];

export interface TokenUses {
  uses: readonly AuditAdminView[];
  /** True if not all records were searched. */
  isCut: boolean;
}

export function createTokenUses(options: {
  audit: Pick<Audit, 'search'>;
  clock: () => number;
  nowMs: () => number;
}): () => Promise<TokenUses> {
  const { audit, clock, nowMs } = options;
  const cache = new SingleFlightCache<TokenUses>(1, nowMs);

  async function search(): Promise<TokenUses> {
    const since = showTime(clock() - DAY_MS);
    const found: TokenUses = { uses: [], isCut: false };
    for (const login of LOGINS) {
      const { items, next } = await audit.search({ kind: 'admin', since, limit: USES_MAX, ...login });
      found.uses = [...found.uses, ...items.filter((item) => item.kind === 'admin')];
      found.isCut ||= next !== null;
    }
    return found;
  }

  return async () => cache.get('', async () => ({ value: await search(), ttlMs: KEPT_MS }));
}
