/**
 * Reads the changes of a subscription, and checks the fields of its deliveries, by calls that the proxy makes in the
 * background, without a client's request. Each call is made as the key of the subscription, whose policy and limits
 * apply, or as the proxy itself.
 */
import { randomUUID } from 'node:crypto';
import { BUSINESS_ERRORS, clipText } from '@erp-proxy/contract';
import type { Instances } from '@erp-proxy/control/instances';
import { type Keys, PROXY_CLIENT } from '@erp-proxy/control/keys';
import type { RunRequest } from '@erp-proxy/gateway';
import { BackgroundExchange, Denial, type MadeCalls, OWN_DIALECT } from '@erp-proxy/gateway/terms';
import type { QuestionFailure } from '../../ask-odoo.ts';
import { askNothing } from '../../changes/changes-questions.ts';
import { createAsk } from '../../changes/create-ask.ts';
import { findGone } from '../../changes/find-gone.ts';
import { listIds } from '../../changes/list-ids.ts';
import { readChanges } from '../../changes/read-changes.ts';
import type { Ask, ChangesFault, ChangesRead, ChangesState } from '../../changes/terms.ts';
import { type DataRequest, readDataRequest } from '../../data-request.ts';
import { dropsRecords } from '../../dropped-records.ts';
import type { ChangeReader, ReadRefusal, ReadResult } from '../change-reader.ts';
import type { RecordSubscription } from '../row.ts';
import { type CheckReading, findClient } from './check-delivery.ts';

export interface SubscriptionReaderDeps {
  run: RunRequest;
  keys: Pick<Keys, 'findClient'>;
  instances: Pick<Instances, 'find'>;
  overlapSeconds: number;
  /** Monotonic clock in milliseconds. */
  nowMs: () => number;
}

/** The stored state of a subscription. */
interface State {
  state: ChangesState | null;
  /** True until all records that existed at the start have been seen, for a subscription that starts now. */
  isBeginning: boolean;
}

type Changes = Extract<ChangesRead<QuestionFailure>, { changes: unknown }>;
/** Why a reading returns nothing. */
type Obstacle = Exclude<ChangesRead<QuestionFailure>, Changes>;

const MADE: MadeCalls = {
  via: 'subscription',
  values: 'unconverted',
  data: 'subscriptions',
  isBackground: true,
};

/** Maximum changes that are stored in one transaction. */
const CHANGES_MAX = 200;
const BYTES_MAX = 2 * 1024 * 1024;
const PAGE_MAX = 1000;
/** A reading ends early after this time. */
const READING_MS = 10_000;

/** Reads for subscriptions, and makes the check before each delivery. */
export interface SubscriptionReader extends ChangeReader {
  checkReading: CheckReading;
}

export function createSubscriptionReader({
  run,
  keys,
  instances,
  overlapSeconds,
  nowMs,
}: SubscriptionReaderDeps): SubscriptionReader {
  /** Runs `work` as the key of the subscription, or returns why nothing could be read. */
  async function runCalls<Result extends object>(
    subscription: Source,
    signal: AbortSignal,
    work: (ask: Ask<QuestionFailure>, signal: AbortSignal) => Promise<Result | Obstacle>,
  ): Promise<Result | ReadRefusal> {
    const client = await findClient(subscription, keys);
    if ('problem' in client) return client;
    if (await isMissing(subscription, instances)) return explainMissing(subscription);
    const outcome = await run<Result | Obstacle>({
      source: { by: 'background', client, ...MADE },
      exchange: new BackgroundExchange(randomUUID(), signal),
      dialect: OWN_DIALECT,
      answer(runner) {
        const ask = createAsk(buildRequest(subscription), runner, nowMs);
        return work((question) => {
          // Gives each call the full time limit.
          runner.renewTime();
          return ask(question);
        }, runner.signal);
      },
    });
    if (outcome instanceof Denial) return explainDenial(outcome);
    if ('failure' in outcome) return explainFailure(outcome.failure, subscription, keys);
    return 'fault' in outcome ? explainFault(outcome.fault) : outcome;
  }

  return {
    readChanges: (subscription, given, signal) =>
      runCalls(subscription, signal, async (ask, ended) => {
        const { state, isBeginning } = (given as State | null) ?? {
          state: null,
          isBeginning: subscription.start === 'now',
        };
        // Skips the copy of existing records.
        const isCopySkipped = isBeginning && state === null;
        const endsMs = nowMs() + READING_MS;
        const read = await readChanges(ask, describeQuery(subscription), state, {
          changesMax: isCopySkipped ? 1 : CHANGES_MAX,
          bytesMax: BYTES_MAX,
          pageMax: isCopySkipped ? 1 : PAGE_MAX,
          idsMax: 0,
          overlapSeconds,
          isOver: () => isCopySkipped || nowMs() >= endsMs || ended.aborted,
        });
        if (!('changes' in read)) return read;
        return isBeginning ? withholdChanges(read, isCopySkipped) : sendChanges(read);
      }),
    listIds: (subscription, max, signal) =>
      runCalls(subscription, signal, (ask) => listIds(ask, describeQuery(subscription), max)),
    findGone: (subscription, ids, signal) =>
      runCalls(subscription, signal, (ask) => findGone(ask, describeQuery(subscription), ids)),
    async checkReading({ fields, ...source }, signal) {
      const checked = await runCalls(source, signal, async (ask) => {
        const asked = await ask(askNothing(fields));
        return 'failure' in asked ? { failure: asked.failure } : {};
      });
      return 'problem' in checked ? checked : null;
    },
  };
}

function sendChanges({ changes, state, more }: Changes): ReadResult {
  return {
    changes,
    unsent: [],
    more,
    isRepeatable: changes.length === 0 && !more,
    state: { state, isBeginning: false } satisfies State,
  };
}

/** Changes from before the start, within the overlap, are not sent. Their records are watched. */
function withholdChanges({ changes, state, more }: Changes, isCopySkipped: boolean): ReadResult {
  const next = isCopySkipped ? { ...state, copiedTo: null, given: '' } : state;
  const isBeginning = isCopySkipped || more;
  return {
    changes: [],
    unsent: changes,
    more: isBeginning,
    isRepeatable: false,
    state: { state: next, isBeginning } satisfies State,
  };
}

/** The members of a subscription that its calls need. */
type Source = Pick<RecordSubscription, 'key' | 'instance' | 'model'>;

/** Archived records are read, too: otherwise they would seem to be deleted. */
const SHOW_ARCHIVED = '{"active_test":false}';

/** Any other problem with the instance shows in the answer to the call. */
async function isMissing({ instance }: Source, instances: Pick<Instances, 'find'>): Promise<boolean> {
  try {
    return (await instances.find(instance)) === null;
  } catch {
    return false;
  }
}

function explainMissing({ instance }: Source): ReadRefusal {
  const problem = `There is no instance "${instance}" any more: store it again, or give the subscription another one.`;
  return { problem, isKeyOver: false };
}

function describeQuery({ domain, fields, model }: RecordSubscription) {
  return {
    domain: JSON.stringify(domain),
    fields,
    context: SHOW_ARCHIVED,
    dropsRecords: dropsRecords(model),
    // Subscriptions remember the ids themselves.
    findsDeleted: false,
  };
}

function buildRequest({ model, instance }: Source): DataRequest {
  const text = JSON.stringify({ model_id: model, erp_instance: { name: instance } });
  const request = readDataRequest(Buffer.from(text), []);
  if ('denial' in request) throw new Error(request.denial.message);
  return request;
}

async function explainFailure(
  failure: QuestionFailure,
  subscription: Source,
  keys: Pick<Keys, 'findClient'>,
): Promise<ReadRefusal> {
  if ('denial' in failure) return explainDenial(failure.denial);
  // An error answer of the proxy, as a whole.
  const answer = JSON.parse(Buffer.from(failure.error).toString()) as {
    error: { message: string; data: { type: string; message?: string } };
  };
  const { message, data } = answer.error;
  // The key was revoked or has expired during the reading.
  const client = data.type === 'unauthorized' ? await findClient(subscription, keys) : PROXY_CLIENT;
  if ('problem' in client) return client;
  const problem = `${data.type}: ${clip(data.message ?? message)}`;
  // Only these errors are Odoo's. Others are the proxy's own.
  const isOfOdoo = data.type in BUSINESS_ERRORS;
  return { problem, ...(isOfOdoo ? { summary: `Odoo answered ${data.type}.` } : {}), isKeyOver: false };
}

function explainDenial({ type, message }: Denial): ReadRefusal {
  return { problem: `${type}: ${clip(message)}`, isKeyOver: false };
}

function explainFault(fault: ChangesFault): ReadRefusal {
  const problem =
    fault.type === 'no_write_date'
      ? 'The model has no `write_date`, or does not exist, so that its changes cannot be found.'
      : `An answer of Odoo cannot be used. ${fault.message}`;
  return { problem, isKeyOver: false };
}

const TEXT_LENGTH_MAX = 500;

function clip(text: string): string {
  return clipText(text, TEXT_LENGTH_MAX);
}
