/** An environment for commands in tests, which records their output. */
import type { Surroundings } from './command.ts';

interface RecordedSurroundings extends Surroundings {
  /** The standard output so far. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Has no files and no terminal, and accepts all output at once, unless `changes` say otherwise. */
export function recordSurroundings(changes: Partial<Surroundings> = {}): RecordedSurroundings {
  let stdout = '';
  let stderr = '';
  return {
    print: (text) => {
      stdout += text;
    },
    complain: (text) => {
      stderr += text;
    },
    untilTaken: async () => {},
    isTerminal: false,
    isErrorTerminal: false,
    ask: null,
    readInput: () => Promise.reject(Object.assign(new Error('/a/path'), { code: 'EACCES' })),
    writeFile: () => Promise.reject(Object.assign(new Error('/a/path'), { code: 'EACCES' })),
    untilStopped: () => Promise.resolve(),
    ...changes,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
  };
}
