/** Runs the garbage collector, for tests that objects are released. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** `minor` collects young objects only. */
export function collectGarbage(type: 'major' | 'minor'): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type });
}
