/** Approvals of calls in memory. */
import type {
  ApprovalListQuery,
  ApprovalRow,
  ApprovalStore,
  ApprovalWithCall,
  AuditBatch,
} from '../ports.ts';
import { compareCodePoints } from './text.ts';

interface Row extends ApprovalWithCall {
  /** Null unless it is used. */
  readonly attempt: string | null;
}

export function createMemoryApprovals(appendAct: (act: AuditBatch | undefined) => void): ApprovalStore {
  const rows = new Map<string, Row>();

  const isOpen = ({ state, expiresAt }: Row, now: number) => state !== 'used' && expiresAt > now;
  const put = (row: Row) => void rows.set(row.id, row);

  return {
    ask({ createdAt: now, ...request }, { clientMax, totalMax }) {
      const open = [...rows.values()].filter((row) => isOpen(row, now));
      const same = open.find((row) => isSameCall(row, request));
      if (same !== undefined) return toRow(same);
      const pending = open.filter(({ state }) => state === 'pending');
      if (pending.filter(({ client }) => client === request.client).length >= clientMax) return 'client_full';
      if (pending.length >= totalMax) return 'full';
      const row: Row = { ...request, ...UNDECIDED, createdAt: now };
      put(row);
      return toRow(row);
    },
    find(id) {
      const row = rows.get(id);
      return row === undefined ? null : toRowWithCall(row);
    },
    findOf(client, fingerprint, ids) {
      return [...new Set(ids)].flatMap((id) => {
        const row = rows.get(id);
        return row?.client === client && row.fingerprint === fingerprint ? [toRow(row)] : [];
      });
    },
    list({ after, limit, state }) {
      return [...rows.values()]
        .filter((row) => after === null || compareByAge(row, after) < 0)
        .filter((row) => state === undefined || readState(row, state.now) === state.is)
        .sort((a, b) => compareByAge(b, a))
        .slice(0, limit)
        .map(toRow);
    },
    decide(id, { state, by, reason, now, expiresAt }, act) {
      const row = rows.get(id);
      if (row === undefined) return 'missing';
      if (row.state !== 'pending' || row.expiresAt <= now) return 'conflict';
      put({
        ...row,
        state,
        decidedAt: now,
        decidedBy: by,
        reason,
        expiresAt: expiresAt ?? row.expiresAt,
        call: state === 'refused' ? null : row.call,
      });
      appendAct(act);
      return 'done';
    },
    claim({ id, client, fingerprint, attempt, now }) {
      const row = rows.get(id);
      if (row?.client !== client || row.fingerprint !== fingerprint) return false;
      if (row.state !== 'approved' || row.expiresAt <= now) return false;
      put({ ...row, state: 'used', usedAt: now, attempt });
      return true;
    },
    release(id, attempt) {
      const row = rows.get(id);
      if (row?.state !== 'used' || row.attempt !== attempt) return;
      const isAskedAgain = [...rows.values()].some(
        (other) =>
          other.id !== id &&
          isSameCall(other, row) &&
          (other.createdAt >= row.createdAt || isOpen(other, row.createdAt)),
      );
      if (!isAskedAgain) put({ ...row, state: 'approved', usedAt: null, attempt: null });
    },
    prune(now, removeBefore, limit) {
      const over = [...rows.values()].filter(({ expiresAt }) => expiresAt <= now);
      const cleared = over.filter(({ call }) => call !== null).slice(0, limit);
      for (const row of cleared) put({ ...row, call: null });
      const removed = over.filter(({ expiresAt }) => expiresAt <= removeBefore).slice(0, limit);
      for (const { id } of removed) rows.delete(id);
      return Math.max(cleared.length, removed.length);
    },
  };
}

const UNDECIDED = {
  state: 'pending',
  decidedAt: null,
  decidedBy: null,
  reason: null,
  usedAt: null,
  attempt: null,
} as const;

type Call = Pick<ApprovalRow, 'client' | 'fingerprint'>;

function isSameCall(one: Call, other: Call): boolean {
  return one.client === other.client && one.fingerprint === other.fingerprint;
}

function readState(
  { state, expiresAt }: ApprovalRow,
  now: number,
): NonNullable<ApprovalListQuery['state']>['is'] {
  return (state === 'pending' || state === 'approved') && expiresAt <= now ? 'expired' : state;
}

type Position = Pick<ApprovalRow, 'createdAt' | 'id'>;

function compareByAge(a: Position, b: Position): number {
  return a.createdAt - b.createdAt || compareCodePoints(a.id, b.id);
}

function toRow(row: Row): ApprovalRow {
  const { call: _, ...rest } = toRowWithCall(row);
  return rest;
}

function toRowWithCall({ attempt: _, ...row }: Row): ApprovalWithCall {
  return row;
}
