/**
 * Calls that wait, by client. The client with the fewest calls running has the next turn, in order among equals: with one
 * place that is round robin, with more it shares out the places, so that a client of slow reports does not come to hold
 * all of them while the others take turns with short reads. Every operation costs the same, however many wait.
 */
import { Chain, type Link } from './chain.ts';
import { Ranking } from './ranking.ts';

/** One call's place in the queue. */
export type Place<Call> = Link<Call>;

interface Line<Call> {
  running: number;
  readonly calls: Chain<Call>;
}

export class FairQueue<Call extends { readonly client: string }> {
  /** Clients with calls that run or wait. */
  readonly #lines = new Map<string, Line<Call>>();
  /** Those with calls that wait. */
  readonly #byRunning = new Ranking<Line<Call>>();
  readonly #byLength = new Ranking<Line<Call>>();
  #size = 0;

  /** Calls that wait. */
  get size(): number {
    return this.#size;
  }

  /** The call that has the next turn. */
  get next(): Place<Call> | null {
    return this.#byRunning.first?.calls.first ?? null;
  }

  add(call: Call): Place<Call> {
    const line = this.#findLine(call.client);
    const place = line.calls.add(call);
    this.#size++;
    this.#rank(line);
    return place;
  }

  /** Takes out a call that waits: the place must be one. */
  remove(place: Place<Call>): void {
    const { client } = place.item;
    const line = this.#findLine(client);
    line.calls.remove(place);
    this.#size--;
    this.#rank(line);
    this.#forgetEmpty(client, line);
  }

  /** One call of the client runs. */
  begin(client: string): void {
    const line = this.#findLine(client);
    line.running++;
    if (line.calls.size > 0) this.#rank(line);
  }

  /** One call of the client runs no more. */
  end(client: string): void {
    const line = this.#findLine(client);
    line.running--;
    if (line.calls.size > 0) this.#rank(line);
    else this.#forgetEmpty(client, line);
  }

  /** How many would have their turn before another call of the client; at most, since lines may be shorter than its own. */
  countAhead(client: string): number {
    const line = this.#lines.get(client);
    const own = line?.calls.size ?? 0;
    const clients = this.#byRunning.size + (own === 0 ? 1 : 0);
    return Math.min(this.#size, (own + 1) * clients - 1);
  }

  /**
   * The call that makes room for one of the client's: the newest of the longest line. Null where that line would not be
   * longer than the client's own even then.
   */
  findVictim(client: string): Place<Call> | null {
    const longest = this.#byLength.first?.calls;
    const own = this.#lines.get(client)?.calls.size ?? 0;
    return longest !== undefined && longest.size > own + 1 ? longest.last : null;
  }

  places(): Place<Call>[] {
    return this.#lines
      .values()
      .flatMap(({ calls }) => calls)
      .toArray();
  }

  #findLine(client: string): Line<Call> {
    let line = this.#lines.get(client);
    if (line === undefined) {
      line = { running: 0, calls: new Chain() };
      this.#lines.set(client, line);
    }
    return line;
  }

  #rank(line: Line<Call>): void {
    if (line.calls.size === 0) {
      this.#byRunning.remove(line);
      this.#byLength.remove(line);
    } else {
      this.#byRunning.place(line, line.running);
      this.#byLength.place(line, -line.calls.size);
    }
  }

  #forgetEmpty(client: string, line: Line<Call>): void {
    if (line.running === 0 && line.calls.size === 0) this.#lines.delete(client);
  }
}
