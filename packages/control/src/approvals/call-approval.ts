/**
 * One attempt at a call that needs an approval. It uses the approval right before the call is sent. After a crash later
 * than that, the call may have run, and the approval stays used. Must not know why a call was not sent.
 */
import { randomUUID } from 'node:crypto';
import { waitFor } from '@erp-proxy/async/tasks';
import type { ConcernedRecords } from '@erp-proxy/contract';
import type { ApprovalRequest, ApprovalRow, ApprovalStore } from '@erp-proxy/stores/ports';
import type { PendingReleases } from '@erp-proxy/traffic/idempotency';
import type { Vault } from '../instances/vault.ts';
import { createApprovalId } from './approval-id.ts';
import { type ApprovalFacts, printFacts } from './facts.ts';
import { sealCall } from './sealed-call.ts';

/** A call that needs an approval. */
export interface CallToApprove {
  /** Id of the client, which stays the same when its key is rotated. */
  clientId: string;
  /** Kind of the call by its route, with its server, database and user. Equal calls have the same operation. */
  operation: string;
  facts: ApprovalFacts;
  /** The arguments that Odoo gets: JSON texts of the positional and the named ones. */
  params: Uint8Array;
  keyword: Uint8Array;
}

export interface ApprovalSettings {
  /** Milliseconds for which a request waits for a decision. */
  decideMs: number;
  /** Milliseconds for which an approved call can be sent. */
  useMs: number;
  /** Maximum size of a call that can be approved: bytes of its arguments. */
  callBytesMax: number;
  /** Maximum numbers of calls that wait for a decision. */
  clientMax: number;
  totalMax: number;
}

/** Numbers of requests since the start of the process. */
export interface ApprovalCounts {
  asked: number;
  approved: number;
  refused: number;
  used: number;
  /** Number of calls that were not run, so their approvals can be used again. */
  returned: number;
}

/** The state of a call with regard to its approval. Times are milliseconds since 1970. */
export type Standing =
  /** The attempt may use this approval. */
  | { kind: 'approved'; id: string }
  /** The call is approved, but the caller has not named the approval. */
  | { kind: 'unnamed'; id: string; until: number }
  /** The call waits for a decision. `isNew`: the attempt has just made the request. */
  | { kind: 'pending'; id: string; until: number; isNew: boolean }
  /** The call was refused. The same call can be requested again at `until`. */
  | { kind: 'refused'; id: string; until: number; reason: string | null }
  /** The named approval was used: the call has run, or may have. */
  | { kind: 'used'; id: string }
  /** The named approval has expired. */
  | { kind: 'expired'; id: string }
  /** Too many calls of this client, or of all clients, wait for a decision. */
  | { kind: 'client_full' | 'full' }
  /** The call is too large to be shown to an administrator. */
  | { kind: 'too_large'; bytesMax: number };

export interface CallApprovalDeps {
  store: ApprovalStore;
  vault: Vault;
  settings: ApprovalSettings;
  clock: () => number;
  nameCall: (call: CallToApprove) => string;
  releases: PendingReleases;
  counts: ApprovalCounts;
  onError: (error: unknown) => void;
}

/** Maximum time that a reply waits for a slow store, as with idempotency keys. */
const RELEASE_WAIT_MS = 1000;
/** With these bounds, the store only looks for an open request. */
const NO_ROOM = { clientMax: 0, totalMax: 0 };

export class CallApproval {
  readonly #call: CallToApprove;
  readonly #deps: CallApprovalDeps;
  #fingerprint = '';
  /** The approval that the attempt may use; null until it is found. */
  #id: string | null = null;
  /** The claim of this attempt on the approval; null if it has none. */
  #claimed: { id: string; attempt: string } | null = null;

  constructor(call: CallToApprove, deps: CallApprovalDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  /**
   * Finds the approval of the call among `ids`, which the caller has named, or else its open request. Null: the call
   * was not requested, or can be requested again. Rejects if the store fails.
   */
  async find(ids: readonly string[]): Promise<Standing | null> {
    const { store, settings, nameCall } = this.#deps;
    const { clientId, params, keyword } = this.#call;
    const { callBytesMax } = settings;
    if (params.length + keyword.length > callBytesMax) return { kind: 'too_large', bytesMax: callBytesMax };
    this.#fingerprint = nameCall(this.#call);
    if (ids.length > 0) {
      const named = await store.findOf(clientId, this.#fingerprint, ids);
      const standings = named.map((row) => this.#check(row));
      // A named id of an older approval does not displace the useful one.
      for (const kind of ['approved', 'pending', 'refused', 'used', 'expired'] as const) {
        const standing = standings.find((it) => it.kind === kind);
        if (standing === undefined) continue;
        if (standing.kind === 'approved') this.#id = standing.id;
        return standing;
      }
    }
    const open = await store.ask(this.#describe('', ''), NO_ROOM);
    return typeof open === 'string' ? null : this.#checkOpen(open);
  }

  /**
   * Stores a request for a decision, unless another attempt has done so since. `concerns`: the records of the call;
   * null if they are not known.
   */
  async ask(concerns: ConcernedRecords[] | null): Promise<Standing> {
    const { store, vault, settings, counts } = this.#deps;
    const { params, keyword } = this.#call;
    const id = createApprovalId();
    const values = { params: decode(params), keyword: decode(keyword) };
    const call = sealCall(concerns?.length ? { ...values, concerns } : values, id, vault);
    const { clientMax, totalMax } = settings;
    const answer = await store.ask(this.#describe(id, call), { clientMax, totalMax });
    if (typeof answer === 'string') return { kind: answer };
    const isNew = answer.id === id;
    if (isNew) counts.asked++;
    const standing = this.#checkOpen(answer);
    return standing.kind === 'pending' ? { ...standing, isNew } : standing;
  }

  /** Uses the approval. False: another attempt has used it, or it has expired. Rejects if the store fails. */
  async claim(): Promise<boolean> {
    const { store, clock, counts } = this.#deps;
    if (this.#id === null) throw new Error('the call has no approval');
    const claimed = { id: this.#id, attempt: randomUUID() };
    const { clientId: client } = this.#call;
    let isClaimed: boolean;
    try {
      isClaimed = await store.claim({ ...claimed, client, fingerprint: this.#fingerprint, now: clock() });
    } catch (error) {
      // The store may have stored the claim before it failed. The call is not sent, so the claim is released.
      void this.#release(claimed);
      throw error;
    }
    if (!isClaimed) return false;
    this.#claimed = claimed;
    counts.used++;
    return true;
  }

  /** Makes the approval usable again, for a call that was certainly not run. Never rejects. */
  async release(): Promise<void> {
    const claimed = this.#claimed;
    if (claimed === null) return;
    this.#claimed = null;
    this.#deps.counts.returned++;
    await waitFor(this.#release(claimed), { timeoutMs: RELEASE_WAIT_MS });
  }

  /** If the store fails, the release is retried until it succeeds. */
  async #release({ id, attempt }: { id: string; attempt: string }): Promise<void> {
    const { store, releases, onError } = this.#deps;
    try {
      await store.release(id, attempt);
    } catch (error) {
      onError(error);
      releases.add(id, attempt);
    }
  }

  /** `call` is the sealed call. */
  #describe(id: string, call: string): ApprovalRequest {
    const { settings, clock } = this.#deps;
    const { clientId: client, facts } = this.#call;
    const createdAt = clock();
    return {
      id,
      client,
      fingerprint: this.#fingerprint,
      facts: printFacts(facts),
      call,
      createdAt,
      expiresAt: createdAt + settings.decideMs,
    };
  }

  /** The state of a call whose row the caller has not named. */
  #checkOpen(row: ApprovalRow): Standing {
    const standing = this.#check(row);
    return standing.kind === 'approved' ? { ...standing, kind: 'unnamed', until: row.expiresAt } : standing;
  }

  #check({ id, state, expiresAt, reason }: ApprovalRow): Standing {
    if (state === 'used') return { kind: 'used', id };
    if (state === 'refused') return { kind: 'refused', id, until: expiresAt, reason };
    if (expiresAt <= this.#deps.clock()) return { kind: 'expired', id };
    return state === 'approved'
      ? { kind: 'approved', id }
      : { kind: 'pending', id, until: expiresAt, isNew: false };
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
