/** Runs the garbage collector, for tests of what is not to live on. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** `minor`: of young objects alone. */
export function collectGarbage(type: 'major' | 'minor'): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type });
}
