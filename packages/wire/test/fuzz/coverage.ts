/** Which blocks of some sources have run, by the block coverage of V8. It slows all code of the thread. */
import { Session } from 'node:inspector';

interface Script {
  scriptId: string;
  url: string;
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[];
}

export class Coverage {
  readonly #session = new Session();
  readonly #includes: (url: string) => boolean;

  /** `includes`: whether a script counts, by its URL. */
  constructor(includes: (url: string) => boolean) {
    this.#includes = includes;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The blocks that have run since the last call. */
  take(): string[] {
    const blocks: string[] = [];
    // The callback is called before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, result) => {
      if (error !== null) throw error;
      for (const script of result.result as Script[]) {
        if (!this.#includes(script.url)) continue;
        for (const { ranges } of script.functions)
          for (const { startOffset, endOffset, count } of ranges)
            if (count > 0) blocks.push(`${script.scriptId}:${startOffset}-${endOffset}`);
      }
    });
    return blocks;
  }

  stop(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.post('Profiler.disable');
    this.#session.disconnect();
  }
}
