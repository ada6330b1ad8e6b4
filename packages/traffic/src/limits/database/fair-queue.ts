/**
 * The waiting calls of a database, shared out fairly between clients. The client with the fewest running calls is next,
 * in order of arrival among equals. With a concurrency limit of 1 this is round robin. With a higher limit, a client
 * with slow reports cannot occupy the whole limit while others send short reads.
 *
 * Calls to an instance that has a bound of its own are in a subqueue. While the bound is reached, they are skipped. The
 * cost of an operation does not depend on the number of calls or clients. Some operations are linear in the number of
 * subqueues, which is small because the operator configures them.
 */

interface ClientCall {
  readonly client: string;
  /** Id of the instance whose bound applies to the call; null if none does. */
  readonly instance: string | null;
}

/** The entry of one call in the queue. */
export type QueueEntry<Call> = ListNode<{
  readonly call: Call;
  /** Increases with each arrival. */
  readonly number: number;
}>;

interface ClientQueue<Call> {
  readonly client: string;
  running: number;
  waiting: number;
  /** Value of the queue's counter at the last change of `running`, or, if later, when the client began to wait. */
  since: number;
  /** Waiting calls, by instance. */
  readonly parts: Map<string | null, ClientPart<Call>>;
}

/** The waiting calls of one client to one instance. */
interface ClientPart<Call> {
  readonly owner: ClientQueue<Call>;
  readonly instance: string | null;
  readonly calls: LinkedList<QueueEntry<Call>['item']>;
}

/** The waiting calls to one instance, or to all instances without a bound. */
interface Subqueue<Call> {
  size: number;
  readonly byRunning: BucketQueue<ClientPart<Call>>;
}

export class FairQueue<Call extends ClientCall> {
  /** Clients with running or waiting calls. */
  readonly #clients = new Map<string, ClientQueue<Call>>();
  /** Clients with waiting calls, the most first. */
  readonly #byWaiting = new BucketQueue<ClientQueue<Call>>();
  /** Clients with running calls, the most first. */
  readonly #byRunning = new BucketQueue<ClientQueue<Call>>();
  /** Subqueues with waiting calls, by instance. */
  readonly #subqueues = new Map<string | null, Subqueue<Call>>();
  #size = 0;
  #counter = 0;

  /** Number of waiting calls. */
  get size(): number {
    return this.#size;
  }

  countRunning(client: string): number {
    return this.#clients.get(client)?.running ?? 0;
  }

  /** Number of other clients with running or waiting calls. */
  countOthers(client: string): number {
    return this.#clients.size - (this.#clients.has(client) ? 1 : 0);
  }

  /** Number of running calls of the client that has the most. */
  get mostRunning(): number {
    return this.#byRunning.first?.running ?? 0;
  }

  /** The call to run next. Skips a subqueue if `mayRun` is false for its first call. */
  findNext(mayRun: (call: Call) => boolean): QueueEntry<Call> | null {
    let next: ClientPart<Call> | null = null;
    for (const { byRunning } of this.#subqueues.values()) {
      const part = byRunning.first;
      const call = part?.calls.first?.item.call;
      if (part === null || call === undefined || !mayRun(call)) continue;
      if (next === null || isBefore(part, next)) next = part;
    }
    return next?.calls.first ?? null;
  }

  add(call: Call): QueueEntry<Call> {
    const owner = this.#findClient(call.client);
    if (owner.waiting === 0) owner.since = ++this.#counter;
    const { instance } = call;
    const part = owner.parts.get(instance) ?? { owner, instance, calls: new LinkedList() };
    owner.parts.set(instance, part);
    const entry = part.calls.add({ call, number: ++this.#counter });
    this.#changeWaiting(part, 1);
    return entry;
  }

  /** Removes a waiting call. Returns false, without a change, if it no longer waits. */
  remove(entry: QueueEntry<Call>): boolean {
    const { client, instance } = entry.item.call;
    const part = this.#clients.get(client)?.parts.get(instance);
    if (part === undefined || !part.calls.remove(entry)) return false;
    this.#changeWaiting(part, -1);
    return true;
  }

  /** Must be called when a call of the client begins to run. */
  begin(client: string): void {
    this.#changeRunning(this.#findClient(client), 1);
  }

  /** Must be called when a running call of the client has ended. */
  end(client: string): void {
    const owner = this.#findClient(client);
    this.#changeRunning(owner, -1);
    this.#forgetEmpty(owner);
  }

  /**
   * Upper estimate of the calls in the subqueue that would run before another call of the client. The other clients may
   * have fewer waiting calls than assumed.
   */
  countAhead({ client, instance }: ClientCall): number {
    const subqueue = this.#subqueues.get(instance);
    if (subqueue === undefined) return 0;
    const own = this.#clients.get(client)?.parts.get(instance)?.calls.size ?? 0;
    const clients = subqueue.byRunning.size + (own === 0 ? 1 : 0);
    return Math.min(subqueue.size, (own + 1) * clients - 1);
  }

  /**
   * The call to evict in favour of a new call of the client: the newest call of the client with the most waiting calls.
   * Null if that client would then not have more waiting calls than this one.
   */
  findVictim(client: string): QueueEntry<Call> | null {
    const longest = this.#byWaiting.first;
    const own = this.#clients.get(client)?.waiting ?? 0;
    return longest !== null && longest.waiting > own + 1 ? findNewest(longest) : null;
  }

  entries(): QueueEntry<Call>[] {
    return this.#clients
      .values()
      .flatMap(({ parts }) => parts.values())
      .flatMap(({ calls }) => calls)
      .toArray();
  }

  /** Updates all counts of waiting calls after a call was added to the part or removed from it. */
  #changeWaiting(part: ClientPart<Call>, change: 1 | -1): void {
    const { owner, instance } = part;
    const subqueue = this.#findSubqueue(instance);
    subqueue.size += change;
    this.#size += change;
    owner.waiting += change;
    if (owner.waiting === 0) this.#byWaiting.remove(owner);
    else this.#byWaiting.set(owner, -owner.waiting);
    if (part.calls.size === 0) {
      subqueue.byRunning.remove(part);
      owner.parts.delete(instance);
    } else subqueue.byRunning.set(part, owner.running);
    if (subqueue.size === 0) this.#subqueues.delete(instance);
    this.#forgetEmpty(owner);
  }

  #findClient(client: string): ClientQueue<Call> {
    let found = this.#clients.get(client);
    if (found === undefined) {
      found = { client, running: 0, waiting: 0, since: 0, parts: new Map() };
      this.#clients.set(client, found);
    }
    return found;
  }

  #findSubqueue(instance: string | null): Subqueue<Call> {
    let subqueue = this.#subqueues.get(instance);
    if (subqueue === undefined) {
      subqueue = { size: 0, byRunning: new BucketQueue() };
      this.#subqueues.set(instance, subqueue);
    }
    return subqueue;
  }

  #changeRunning(owner: ClientQueue<Call>, change: 1 | -1): void {
    owner.running += change;
    owner.since = ++this.#counter;
    if (owner.running === 0) this.#byRunning.remove(owner);
    else this.#byRunning.set(owner, -owner.running);
    for (const [instance, part] of owner.parts)
      this.#subqueues.get(instance)?.byRunning.set(part, owner.running);
  }

  #forgetEmpty({ client, running, waiting }: ClientQueue<Call>): void {
    if (running === 0 && waiting === 0) this.#clients.delete(client);
  }
}

/** Compares parts of different subqueues. Calls of the same client run in order of arrival. */
function isBefore<Call>(one: ClientPart<Call>, other: ClientPart<Call>): boolean {
  if (one.owner === other.owner) return readNumber(one.calls.first) < readNumber(other.calls.first);
  const { running, since } = other.owner;
  return one.owner.running === running ? one.owner.since < since : one.owner.running < running;
}

function findNewest<Call>({ parts }: ClientQueue<Call>): QueueEntry<Call> | null {
  let newest: QueueEntry<Call> | null = null;
  for (const { calls } of parts.values())
    if (readNumber(calls.last) > readNumber(newest)) newest = calls.last;
  return newest;
}

function readNumber<Call>(entry: QueueEntry<Call> | null): number {
  return entry?.item.number ?? 0;
}

/**
 * Maximum number of buckets that an empty queue keeps. A queue with items has at most one for each priority that
 * occurred, which the limits of calls bound.
 */
const EMPTY_BUCKETS_MAX = 64;

interface Entry<Item> {
  priority: number;
  node: ListNode<Item>;
}

/**
 * A priority queue for integer priorities that change in small steps. Items with the same priority are in first-in,
 * first-out order.
 */
export class BucketQueue<Item> {
  /** The buckets by priority. Empty ones are kept, because priorities change in small steps and soon return. */
  readonly #buckets = new Map<number, LinkedList<Item>>();
  readonly #entries = new Map<Item, Entry<Item>>();
  #lowest = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The oldest of the items with the lowest priority number. */
  get first(): Item | null {
    if (this.size === 0) return null;
    let item = this.#buckets.get(this.#lowest)?.first?.item;
    while (item === undefined) item = this.#buckets.get(++this.#lowest)?.first?.item;
    return item;
  }

  /**
   * Adds the item, or moves it behind the items of its new priority. With an unchanged priority it keeps its position.
   */
  set(item: Item, priority: number): void {
    const entry = this.#entries.get(item);
    if (entry?.priority === priority) return;
    this.#lowest = this.size === 0 ? priority : Math.min(this.#lowest, priority);
    if (entry === undefined) {
      this.#entries.set(item, { priority, node: this.#findBucket(priority).add(item) });
      return;
    }
    this.#buckets.get(entry.priority)?.remove(entry.node);
    entry.priority = priority;
    entry.node = this.#findBucket(priority).add(item);
  }

  remove(item: Item): void {
    const entry = this.#entries.get(item);
    if (entry === undefined) return;
    this.#entries.delete(item);
    this.#buckets.get(entry.priority)?.remove(entry.node);
    if (this.size === 0 && this.#buckets.size > EMPTY_BUCKETS_MAX) this.#buckets.clear();
  }

  #findBucket(priority: number): LinkedList<Item> {
    let bucket = this.#buckets.get(priority);
    if (bucket === undefined) {
      bucket = new LinkedList();
      this.#buckets.set(priority, bucket);
    }
    return bucket;
  }
}

/** A doubly linked list. Any node can be removed in constant time. */
interface ListNode<Item> {
  readonly item: Item;
  before: ListNode<Item> | null;
  after: ListNode<Item> | null;
  /** The list that contains the node; null after its removal. */
  list: LinkedList<Item> | null;
}

export class LinkedList<Item> {
  first: ListNode<Item> | null = null;
  last: ListNode<Item> | null = null;
  size = 0;

  /** Yields the nodes. During the iteration, only the last yielded node may be removed. */
  *[Symbol.iterator](): Generator<ListNode<Item>> {
    for (let node = this.first; node !== null; ) {
      const { after } = node;
      yield node;
      node = after;
    }
  }

  /** Appends the item. */
  add(item: Item): ListNode<Item> {
    const node: ListNode<Item> = { item, before: this.last, after: null, list: this };
    if (this.last === null) this.first = node;
    else this.last.after = node;
    this.last = node;
    this.size++;
    return node;
  }

  /** Returns whether the node was in this list. If not, nothing changes. */
  remove(node: ListNode<Item>): boolean {
    if (node.list !== this) return false;
    const { before, after } = node;
    if (before === null) this.first = after;
    else before.after = after;
    if (after === null) this.last = before;
    else after.before = before;
    node.list = null;
    // Cleared, because the node could otherwise keep its former neighbours in memory.
    node.before = null;
    node.after = null;
    this.size--;
    return true;
  }
}
