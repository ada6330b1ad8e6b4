/**
 * Calls that wait, by client. The client with the fewest calls running has the next turn, in order among equals: with one
 * place that is round robin, with more it shares out the places, so that a client of slow reports does not come to hold
 * all of them while the others take turns with short reads. Calls to an instance that has a bound of its own stand in a
 * branch of the queue: while the bound holds them back, they are stepped past. Every operation costs the same, however many
 * calls and clients wait; some cost more with the number of branches, of which the operator makes a handful.
 */

import { BucketQueue } from './bucket-queue.ts';
import { LinkedList, type ListNode } from './linked-list.ts';

interface QueuedCall {
  readonly client: string;
  /** The instance whose own bound holds for the call; null: none does. */
  readonly instance: string | null;
}

/** One call's place in the queue. */
export type Place<Call> = ListNode<{
  readonly call: Call;
  /** In the order of coming. */
  readonly number: number;
}>;

/** All of a client. */
interface Line<Call> {
  readonly client: string;
  running: number;
  waiting: number;
  /** When it had `running` first, or came to wait if that is later, in counts of the queue. */
  since: number;
  /** Those with calls that wait, by instance. */
  readonly parts: Map<string | null, Part<Call>>;
}

/** The calls of one client in one branch. */
interface Part<Call> {
  readonly line: Line<Call>;
  readonly instance: string | null;
  readonly calls: LinkedList<Place<Call>['item']>;
}

/** The calls to one instance, or of all that has no bound of its own. */
interface Branch<Call> {
  size: number;
  readonly byRunning: BucketQueue<Part<Call>>;
}

export class FairQueue<Call extends QueuedCall> {
  /** Clients with calls that run or wait. */
  readonly #lines = new Map<string, Line<Call>>();
  /** Those with calls that wait. */
  readonly #byLength = new BucketQueue<Line<Call>>();
  /** Those with calls that run. */
  readonly #byRunning = new BucketQueue<Line<Call>>();
  /** Those with calls that wait, by instance. */
  readonly #branches = new Map<string | null, Branch<Call>>();
  #size = 0;
  #count = 0;

  /** Calls that wait. */
  get size(): number {
    return this.#size;
  }

  /** Calls of the client that run. */
  countRunning(client: string): number {
    return this.#lines.get(client)?.running ?? 0;
  }

  /** Clients beside this one with calls that run or wait. */
  countOthers(client: string): number {
    return this.#lines.size - (this.#lines.has(client) ? 1 : 0);
  }

  /** Calls that run of the client with the most. */
  get mostRunning(): number {
    return this.#byRunning.first?.running ?? 0;
  }

  /** The call that has the next turn, of the branches whose own next call may go. */
  findNext(mayGo: (call: Call) => boolean): Place<Call> | null {
    let next: Part<Call> | null = null;
    for (const { byRunning } of this.#branches.values()) {
      const part = byRunning.first;
      const call = part?.calls.first?.item.call;
      if (part === null || call === undefined || !mayGo(call)) continue;
      if (next === null || isBefore(part, next)) next = part;
    }
    return next?.calls.first ?? null;
  }

  add(call: Call): Place<Call> {
    const line = this.#findLine(call.client);
    if (line.waiting === 0) line.since = ++this.#count;
    const part = line.parts.get(call.instance) ?? { line, instance: call.instance, calls: new LinkedList() };
    line.parts.set(call.instance, part);
    const place = part.calls.add({ call, number: ++this.#count });
    this.#changeWaiting(part, 1);
    return place;
  }

  /** Takes out a call that waits. False where it does not wait any more; nothing changes then. */
  remove(place: Place<Call>): boolean {
    const { client, instance } = place.item.call;
    const part = this.#lines.get(client)?.parts.get(instance);
    if (part === undefined || !part.calls.remove(place)) return false;
    this.#changeWaiting(part, -1);
    return true;
  }

  /** One call of the client runs. */
  begin(client: string): void {
    this.#rank(this.#findLine(client), 1);
  }

  /** One call of the client runs no more. */
  end(client: string): void {
    const line = this.#findLine(client);
    this.#rank(line, -1);
    this.#forgetEmpty(line);
  }

  /**
   * How many of the branch would have their turn before another call of the client there; at most, since lines may be
   * shorter than its own.
   */
  countAhead({ client, instance }: QueuedCall): number {
    const branch = this.#branches.get(instance);
    if (branch === undefined) return 0;
    const own = this.#lines.get(client)?.parts.get(instance)?.calls.size ?? 0;
    const clients = branch.byRunning.size + (own === 0 ? 1 : 0);
    return Math.min(branch.size, (own + 1) * clients - 1);
  }

  /**
   * The call that makes room for one of the client's: the newest of the longest line. Null where that line would not be
   * longer than the client's own even then.
   */
  findVictim(client: string): Place<Call> | null {
    const longest = this.#byLength.first;
    const own = this.#lines.get(client)?.waiting ?? 0;
    return longest !== null && longest.waiting > own + 1 ? findNewest(longest) : null;
  }

  places(): Place<Call>[] {
    return this.#lines
      .values()
      .flatMap(({ parts }) => parts.values())
      .flatMap(({ calls }) => calls)
      .toArray();
  }

  /** A call of the part has come or gone: the one place where calls that wait are counted. */
  #changeWaiting(part: Part<Call>, change: 1 | -1): void {
    const { line, instance } = part;
    const branch = this.#findBranch(instance);
    this.#size += change;
    branch.size += change;
    line.waiting += change;
    if (line.waiting === 0) this.#byLength.remove(line);
    else this.#byLength.place(line, -line.waiting);
    if (part.calls.size === 0) {
      branch.byRunning.remove(part);
      line.parts.delete(instance);
    } else branch.byRunning.place(part, line.running);
    if (branch.size === 0) this.#branches.delete(instance);
    this.#forgetEmpty(part.line);
  }

  #findLine(client: string): Line<Call> {
    let line = this.#lines.get(client);
    if (line === undefined) {
      line = { client, running: 0, waiting: 0, since: 0, parts: new Map() };
      this.#lines.set(client, line);
    }
    return line;
  }

  #findBranch(instance: string | null): Branch<Call> {
    let branch = this.#branches.get(instance);
    if (branch === undefined) {
      branch = { size: 0, byRunning: new BucketQueue() };
      this.#branches.set(instance, branch);
    }
    return branch;
  }

  #rank(line: Line<Call>, change: 1 | -1): void {
    line.running += change;
    line.since = ++this.#count;
    if (line.running === 0) this.#byRunning.remove(line);
    else this.#byRunning.place(line, -line.running);
    for (const [instance, part] of line.parts)
      this.#branches.get(instance)?.byRunning.place(part, line.running);
  }

  #forgetEmpty({ client, running, waiting }: Line<Call>): void {
    if (running === 0 && waiting === 0) this.#lines.delete(client);
  }
}

/** Of two parts in different branches; a client's own calls go in the order of coming. */
function isBefore<Call>(one: Part<Call>, other: Part<Call>): boolean {
  if (one.line === other.line) return readNumber(one.calls.first) < readNumber(other.calls.first);
  const { running, since } = other.line;
  return one.line.running === running ? one.line.since < since : one.line.running < running;
}

function findNewest<Call>({ parts }: Line<Call>): Place<Call> | null {
  let newest: Place<Call> | null = null;
  for (const { calls } of parts.values())
    if (readNumber(calls.last) > readNumber(newest)) newest = calls.last;
  return newest;
}

function readNumber<Call>(place: Place<Call> | null): number {
  return place?.item.number ?? 0;
}
