/**
 * Serves `POST /api/erp/changes`: opens the cursor, reads the changes through calls of the request, and seals the next
 * cursor. read-changes.ts decides what to read.
 */

import type { Instances } from '@erp-proxy/control/instances';
import { invalid } from '@erp-proxy/gateway/call';
import { buildResultHead, describeNullField, NORMALIZED } from '@erp-proxy/gateway/request';
import { type CallRunner, Denial, readTimeoutMs } from '@erp-proxy/gateway/terms';
import type { QuestionFailure } from '../ask-odoo.ts';
import { readMemberBytes } from '../data-request.ts';
import { nameMembers } from '../name-members.ts';
import { askNewest } from './changes-questions.ts';
import { type ChangesRequest, readChangesRequest } from './changes-request.ts';
import { createAsk, PAGE_BYTES_MAX } from './create-ask.ts';
import { type CursorOwner, type CursorTerms, createCursorSeal } from './cursor.ts';
import { readChanges } from './read-changes.ts';
import type { Ask, Change, ChangesFault, ChangesState } from './terms.ts';

export interface ChangesOptions {
  instances: Pick<Instances, 'find'>;
  /** A key of 32 bytes, the same on all replicas and after restarts. */
  secret: Uint8Array;
  overlapSeconds: number;
  /** Maximum ids that one answer compares to find deleted records. */
  deletedIdsMax: number;
  /** Time limit of a request that does not set one. */
  timeoutMs: number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

export interface Changes {
  /** Answers the request. */
  serve(runner: CallRunner): Promise<null>;
  /**
   * Answers a request with this body through calls of the runner, and returns the answer instead of sending it. The
   * limits of requests for changes apply, whatever the route of the runner's request is.
   */
  read(bytes: Uint8Array, runner: CallRunner): Promise<ChangesAnswer | QuestionFailure>;
}

export interface ChangesAnswer {
  changes: readonly Change[];
  /** The cursor for the next request. */
  cursor: string;
  /** True if the next request may be sent at once. */
  more: boolean;
  /** The first field with null in place of NaN or Infinity; null if there is none. */
  nullField: string | null;
}

/** Maximum records of one call on Odoo, unless the limit of the request is higher. */
const PAGE_MIN = 100;
/** An answer ends early after this time, or after half of its time limit. */
const ANSWER_MS = 5000;

export function createChanges({
  instances,
  secret,
  overlapSeconds,
  deletedIdsMax,
  timeoutMs,
  nowMs,
}: ChangesOptions): Changes {
  const cursors = createCursorSeal(secret);

  async function answer(
    request: ChangesRequest,
    runner: CallRunner,
  ): Promise<ChangesAnswer | QuestionFailure> {
    let nullField: string | null = null;
    const ask = createAsk(request.data, runner, nowMs, (field) => {
      nullField ??= field;
    });
    const owner = await findOwner(request, runner, instances);
    if (owner === null) return await explainMissing(request, ask);
    const terms = listTerms(request, runner);
    let state: ChangesState | null = null;
    if (request.since !== null) {
      const opened = cursors.open(owner, terms, request.since);
      if ('problem' in opened) return { denial: denyCursor(opened) };
      state = opened.state;
      // Without the ids that the caller has from the beginning on, nobody knows which of them are gone.
      if ((state.deleted !== undefined) !== request.findsDeleted)
        return { denial: denyCursor({ problem: 'changed', changed: 'deleted' }) };
    }
    const limitMs = readTimeoutMs(runner.exchange.header('x-request-timeout')) ?? timeoutMs;
    const endsMs = nowMs() + Math.min(ANSWER_MS, limitMs / 2);
    const read = await readChanges(ask, request, state, {
      changesMax: request.limit,
      bytesMax: PAGE_BYTES_MAX,
      pageMax: Math.max(request.limit, PAGE_MIN),
      idsMax: deletedIdsMax,
      overlapSeconds,
      isOver: () => nowMs() >= endsMs || runner.signal.aborted,
    });
    if ('failure' in read) return read.failure;
    if ('fault' in read) return { denial: denyFault(read.fault) };
    const { changes, more } = read;
    return { changes, cursor: cursors.seal(owner, terms, read.state), more, nullField };
  }

  return {
    async serve(runner) {
      const request = readChangesRequest(runner.bytes);
      if ('denial' in request) {
        runner.refuse(request.denial, request.id);
        return null;
      }
      const { id } = request.data;
      const { writer } = runner.exchange;
      const answered = await answer(request, runner);
      if ('denial' in answered) runner.refuse(answered.denial, id);
      else if ('error' in answered)
        writer.sendWhole(
          answered.status,
          { ...runner.describe(), ...answered.headers },
          nameMembers(answered.error, 'domain'),
        );
      else {
        const applied = runner.areValuesNormalized ? NORMALIZED : {};
        const headers = { ...runner.describe(), ...applied, ...describeNullField(answered.nullField) };
        writer.sendWhole(200, headers, printAnswer(id, answered));
      }
      return null;
    },

    async read(bytes, runner) {
      const request = readChangesRequest(bytes);
      if ('denial' in request) return { denial: request.denial };
      const leave = runner.admitData('changes');
      if (leave instanceof Denial) return { denial: leave };
      try {
        return await answer(request, runner);
      } finally {
        leave?.();
      }
    },
  };
}

/** The owner of a cursor. Null if the server cannot be named. */
async function findOwner(
  { data }: ChangesRequest,
  { client }: CallRunner,
  instances: Pick<Instances, 'find'>,
): Promise<CursorOwner | null> {
  const text = Buffer.from(readMemberBytes(data, 'erp_instance') ?? []).toString();
  const server = await nameServer(text, instances);
  return server === null ? null : { clientId: client.key.clientId, server };
}

async function nameServer(text: string, instances: Pick<Instances, 'find'>): Promise<string | null> {
  if (!text.startsWith('{')) return null;
  const given = JSON.parse(text) as Record<string, unknown>;
  const { name, url, db, user_id: userId } = given;
  if (name === undefined) return JSON.stringify([url, db, Number(userId)]);
  if (typeof name !== 'string') return null;
  try {
    const instance = await instances.find(name);
    return instance && JSON.stringify([instance.id, instance.url, instance.db, instance.userId]);
  } catch {
    return null;
  }
}

/** The terms include companies and context of the policy, which also decide what is read. */
function listTerms({ data, domain, fields, context }: ChangesRequest, { client }: CallRunner): CursorTerms {
  const { context: ofPolicy = null, companies = null } = client.policy?.policy ?? {};
  return {
    model_id: data.model,
    fields: JSON.stringify(fields.toSorted()),
    domain: JSON.stringify(JSON.parse(domain)),
    context: JSON.stringify([JSON.parse(context), ofPolicy, companies]),
  };
}

/** Makes a call whose error says why the server cannot be named. */
async function explainMissing(request: ChangesRequest, ask: Ask<QuestionFailure>): Promise<QuestionFailure> {
  const asked = await ask(askNewest(request));
  if ('failure' in asked) return asked.failure;
  return { denial: invalid('erp_instance', '`erp_instance` was changed just now: send the request again.') };
}

function denyCursor({
  problem,
  changed,
}: {
  problem: 'unknown' | 'old' | 'changed';
  changed?: keyof CursorTerms | 'deleted';
}): Denial {
  const restart = 'or null to begin again';
  if (problem === 'changed') {
    const path = changed as string;
    const policy = path === 'context' ? ', or the companies or the context of the policy are others' : '';
    return invalid(
      path,
      `\`${path}\` is not that of the cursor${policy}: send the one that the cursor was made with, ${restart} with \`since\`.`,
    );
  }
  return problem === 'old'
    ? invalid('since', '`since` is a cursor of another version of the proxy: send null to begin again.')
    : invalid(
        'since',
        `\`since\` is not a cursor of this key and server: send the cursor of the last answer, ${restart}.`,
      );
}

function denyFault(fault: ChangesFault): Denial {
  return fault.type === 'no_write_date'
    ? new Denial(
        'invalid_params',
        'This model has no `write_date`, so that its changes cannot be found. Read its records with POST /api/erp/export instead.',
        { path: 'model_id' },
      )
    : new Denial('upstream_bad_response', `An answer of Odoo cannot be used. ${fault.message}`, {
        isReadOnly: true,
        detail: fault.message,
      });
}

function printAnswer(id: Uint8Array, { changes, cursor, more }: ChangesAnswer): Uint8Array {
  const parts: (Uint8Array | string)[] = [buildResultHead(id), '{"changes":['];
  let separator = '';
  for (const { change, id: record, to, at, record: values } of changes) {
    const last = to === undefined ? '' : `"to":${to},`;
    parts.push(
      `${separator}{"change":"${change}","id":${record},${last}"at":${JSON.stringify(at)},"record":`,
      values ?? 'null',
      '}',
    );
    separator = ',';
  }
  parts.push(`],"cursor":${JSON.stringify(cursor)},"more":${more}}}`);
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}
