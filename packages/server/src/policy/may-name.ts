/** Whether the proxy may name a model or a field to a key, for example as a suggestion. Pure. */
import type { CompiledPolicy } from './compile.ts';

/** `compiled` null: the key has no policy. */
export function mayNameModel(compiled: CompiledPolicy | null, model: string): boolean {
  return compiled === null || compiled.models.some(({ matches }) => matches(model));
}

/** So far, all fields of a model that may be named. */
export function mayNameField(compiled: CompiledPolicy | null, model: string, _field: string): boolean {
  return mayNameModel(compiled, model);
}
