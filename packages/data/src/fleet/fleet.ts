/**
 * Serves `POST /api/erp/fleet`: one call on many instances, with one line for each as it answers. Each call passes the
 * execute pipeline, with the policy, the limits and the queue of its own database. A line is sent as a whole, so that
 * the memory of a request is bounded by the number of its running calls.
 */
import { AnswerCollector, ByteStreamError } from '@erp-proxy/async/streams';
import { delay } from '@erp-proxy/async/tasks';
import {
  chooseInstances,
  type InstanceChoice,
  type InstanceList,
  type InstanceRecord,
} from '@erp-proxy/control/instances';
import { invalid } from '@erp-proxy/gateway/call';
import { ReadingPace } from '@erp-proxy/gateway/request';
import { type CallRunner, Denial, INTERNAL } from '@erp-proxy/gateway/terms';
import type { ParallelCalls } from '@erp-proxy/traffic/limits';
import { buildDenialLine, buildLastLine, buildLine, type FleetCounts } from './fleet-line.ts';
import { type FleetRequest, locateInCall, readFleetRequest } from './fleet-request.ts';

export interface FleetDeps {
  instances: InstanceList;
  parallelCalls: ParallelCalls;
  /** Minimum rate at which a caller must read; 0: no minimum. */
  bytesPerSecondMin: number;
  onFault: (requestId: string, error: unknown) => void;
}

export interface Fleet {
  /** Answers the request. */
  serve(runner: CallRunner): Promise<Denial | null>;
}

const INSTANCES_MAX = 1000;
/** A larger answer becomes an error. */
const ANSWER_BYTES_MAX = 1024 * 1024;

export function createFleet(deps: FleetDeps): Fleet {
  return {
    async serve(runner) {
      const request = readFleetRequest(runner.bytes);
      if ('denial' in request) {
        runner.refuse(request.denial, request.id);
        return null;
      }
      const refused = await answer(runner, request, deps);
      if (refused !== null) runner.refuse(refused, request.id);
      return null;
    },
  };
}

/** Returns why the request is refused as a whole. */
async function answer(runner: CallRunner, request: FleetRequest, deps: FleetDeps): Promise<Denial | null> {
  const chosen = choose(await listVisible(runner, deps), request.choice);
  if (chosen instanceof Denial) return chosen;
  // What concerns the call itself is the same for all instances, and each pattern has chosen one.
  const headers = await runner.decide(request.buildCall(chosen[0]!.name));
  if (headers instanceof Denial) return locateInCall(headers);
  await new FleetAnswer(runner, request, deps).send(spread(chosen), headers);
  return null;
}

/** The instances that the key may use. All others must look as if they did not exist. */
async function listVisible(
  { client: { policy } }: CallRunner,
  { instances }: FleetDeps,
): Promise<readonly InstanceRecord[]> {
  const all = await instances.list();
  return policy === null ? all : all.filter(({ name }) => policy.allowsInstance(name));
}

function choose(
  visible: readonly InstanceRecord[],
  choice: InstanceChoice,
): readonly InstanceRecord[] | Denial {
  const { by, texts } = choice;
  const chosen = chooseInstances(visible, choice);
  if ('index' in chosen) {
    const { index, nearest } = chosen;
    const what = by === 'tags' ? 'has the tag' : 'has a name that matches';
    const hint = nearest.length === 0 ? '' : ` Near ones: ${nearest.map((text) => `"${text}"`).join(', ')}.`;
    return invalid(`${by}[${index}]`, `No instance that this key may use ${what} "${texts[index]}".${hint}`);
  }
  if (chosen.length <= INSTANCES_MAX) return chosen;
  const rule = `more than the ${INSTANCES_MAX} of one request: send several with fewer`;
  return invalid(by, `\`${by}\` chooses ${chosen.length} instances, ${rule}.`);
}

/** Takes one instance of each server in turn, so that the databases of one server are not all called at once. */
function spread(chosen: readonly InstanceRecord[]): readonly InstanceRecord[] {
  const counts = new Map<string, number>();
  const placed = chosen.map((instance) => {
    const server = new URL(instance.url).origin;
    const turn = counts.get(server) ?? 0;
    counts.set(server, turn + 1);
    return { instance, turn };
  });
  return placed.toSorted((one, other) => one.turn - other.turn).map(({ instance }) => instance);
}

class FleetAnswer {
  readonly #runner: CallRunner;
  readonly #request: FleetRequest;
  readonly #deps: FleetDeps;
  readonly #pace: ReadingPace;
  readonly #counts: FleetCounts = { done: 0, failed: 0, skipped: 0 };
  /** Settles when the lines so far are sent. */
  #sent: Promise<void> = Promise.resolve();
  #isBroken = false;

  constructor(runner: CallRunner, request: FleetRequest, deps: FleetDeps) {
    this.#runner = runner;
    this.#request = request;
    this.#deps = deps;
    this.#pace = new ReadingPace(deps.bytesPerSecondMin);
  }

  async send(instances: readonly InstanceRecord[], headers: Record<string, string>): Promise<void> {
    const { exchange, signal } = this.#runner;
    const { parallelCalls } = this.#deps;
    const asked = this.#request.concurrency;
    const wanted = Math.min(asked ?? parallelCalls.requestMax, parallelCalls.requestMax, instances.length);
    const allowed = await this.#runner.acquireConcurrency(wanted);
    // Nobody reads the lines any more. After a time limit, the lines that are left are sent.
    const leave = () => signal.reason === 'caller_left' && this.#breakOff();
    signal.addEventListener('abort', leave);
    let isWhole = false;
    try {
      const type = { 'content-type': 'application/x-ndjson' };
      exchange.writer.begin(200, { ...this.#runner.describe(), ...headers, ...type }, null);
      await parallelCalls.run(instances, { asked, allowed, signal }, ({ name }) => this.#callOne(name));
      await this.#write(buildLastLine(this.#counts));
      isWhole = !this.#isBroken;
    } finally {
      signal.removeEventListener('abort', leave);
      if (isWhole) exchange.writer.end();
      else this.#breakOff();
    }
  }

  /** Never rejects: what goes wrong is the error of this instance. */
  async #callOne(name: string): Promise<void> {
    if (this.#isBroken) return;
    const { signal, exchange } = this.#runner;
    const ask = async () => (signal.aborted ? this.#skip(name, denyUnasked(signal)) : await this.#ask(name));
    const line = await ask().catch((error: unknown) => {
      // A large call whose time passes before the thread has checked it was not sent.
      if (signal.aborted) return this.#skip(name, denyUnasked(signal));
      this.#deps.onFault(exchange.requestId, error);
      return this.#fail(name, INTERNAL);
    });
    await this.#write(line);
  }

  async #ask(name: string): Promise<Uint8Array> {
    const { idempotencyKey, signal } = this.#runner;
    const options = idempotencyKey === null ? {} : { idempotencyKey: `fleet ${name} ${idempotencyKey}` };
    for (;;) {
      const writer = new AnswerCollector(ANSWER_BYTES_MAX, 'cancelled');
      const part = this.#runner.startPart();
      const denial = await part.run(this.#request.buildCall(name), writer, options).finally(part.end);
      if (denial === null) return await this.#readAnswer(name, writer);
      if (!(await waitForLimit(denial, signal))) return this.#skip(name, denial);
    }
  }

  async #readAnswer(name: string, writer: AnswerCollector): Promise<Uint8Array> {
    if (writer.isTooLarge) return this.#fail(name, TOO_LARGE);
    if (!writer.isWhole) return this.#fail(name, BROKEN_OFF);
    const built = await buildLine(name, writer.join());
    if (built === null) return this.#fail(name, NOT_JSON);
    this.#counts[built.kind === 'result' ? 'done' : 'failed']++;
    return built.line;
  }

  #fail(name: string, denial: Denial): Uint8Array {
    this.#counts.failed++;
    return buildDenialLine(name, denial);
  }

  #skip(name: string, denial: Denial): Uint8Array {
    this.#counts.skipped++;
    return buildDenialLine(name, denial);
  }

  /** Lines are sent one after the other: a call ends, and makes room for the next one, when its line is taken. */
  #write(line: Uint8Array): Promise<void> {
    this.#sent = this.#sent.then(() => this.#writeNow(line));
    return this.#sent;
  }

  async #writeNow(line: Uint8Array): Promise<void> {
    if (this.#isBroken) return;
    try {
      const drained = this.#runner.exchange.writer.write(line);
      if (!(await this.#pace.waitUntilRead(line.length, drained, () => true))) this.#breakOff();
    } catch (error) {
      if (!(error instanceof ByteStreamError)) throw error;
      this.#breakOff();
    }
  }

  /** Also ends the calls that run: the caller counts as one who has left. */
  #breakOff(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#runner.exchange.writer.breakOff();
  }
}

/** Waits until the limits of the key allow the call. False if that is not within the time of the request. */
async function waitForLimit({ type, more }: Denial, signal: AbortSignal): Promise<boolean> {
  const { retryAfterSeconds } = more;
  if (type !== 'rate_limited' || retryAfterSeconds === undefined) return false;
  if (retryAfterSeconds > LIMIT_WAIT_SECONDS_MAX) return false;
  await delay(retryAfterSeconds * 1000, signal);
  return !signal.aborted;
}

/** A rate leaves room for the next call within this time. Calls per day and per month do not. */
const LIMIT_WAIT_SECONDS_MAX = 60;

function denyUnasked(signal: AbortSignal): Denial {
  const why =
    signal.reason === 'shutdown'
      ? 'The proxy is shutting down.'
      : 'The time limit of the request passed before the turn of this instance: allow more with x-request-timeout.';
  return new Denial('overloaded', `${why} Nothing was sent to it; send the request again for it.`, {
    outcome: 'not_sent',
    retryAfterSeconds: 1,
  });
}

const TOO_LARGE = new Denial(
  'payload_too_large',
  `The answer has more than ${ANSWER_BYTES_MAX / 2 ** 20} MiB: ask for fewer fields or records, or call this instance alone.`,
);
const BROKEN_OFF = new Denial('upstream_unreachable', 'The server broke its answer off.');
const NOT_JSON = new Denial('upstream_bad_response', 'The answer of the server is not valid JSON.');
