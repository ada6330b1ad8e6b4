/** Which blocks of some sources have run, by the block coverage of V8. It slows all code of the thread. */
import { Session } from 'node:inspector';

interface Range {
  startOffset: number;
  endOffset: number;
  count: number;
}

interface Script {
  scriptId: string;
  url: string;
  /** The first range is the whole function. Others are blocks that ran less or more often than what is around them. */
  functions: { ranges: Range[] }[];
}

export class Coverage {
  readonly #session = new Session();
  readonly #includes: (url: string) => boolean;
  /** All blocks that were ever reported, by function. V8 leaves a block out if it ran as often as what is around it. */
  readonly #known = new Map<string, Map<string, Range>>();

  /** `includes`: whether a script counts, by its URL. */
  constructor(includes: (url: string) => boolean) {
    this.#includes = includes;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The blocks that have run since the last call. */
  take(): string[] {
    let scripts: Script[] = [];
    // The callback is called before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, result) => {
      if (error !== null) throw error;
      scripts = result.result;
    });
    return scripts
      .filter(({ url }) => this.#includes(url))
      .flatMap(({ scriptId, functions }) => functions.flatMap(({ ranges }) => this.#list(scriptId, ranges)));
  }

  #list(scriptId: string, ranges: readonly Range[]): string[] {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) return [];
    const name = `${scriptId}:${whole.startOffset}-${whole.endOffset}`;
    const known = this.#known.get(name) ?? new Map<string, Range>();
    this.#known.set(name, known);
    for (const range of ranges) known.set(`${name}:${range.startOffset}-${range.endOffset}`, range);
    const idle = ranges.filter(({ count }) => count === 0);
    return [...known].flatMap(([block, range]) => (idle.some((one) => contains(one, range)) ? [] : [block]));
  }
}

function contains(outer: Range, inner: Range): boolean {
  return outer.startOffset <= inner.startOffset && inner.endOffset <= outer.endOffset;
}
