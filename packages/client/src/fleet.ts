/** Calls many instances in one request, and yields the result or the error of each as it answers. */
import { ErpProxyError, readError } from './errors.ts';
import type { CallOptions, ExecuteCall } from './options.ts';
import type { SendSettings } from './send.ts';
import { sendExport } from './send-export.ts';

/** Which instances: by names, in which `*` stands for any text, or by tags. */
export type FleetChoice = ({ instances: readonly string[] } | { tags: readonly string[] }) & {
  /** Maximum number of instances that are called at once. */
  concurrency?: number | undefined;
};

export type FleetResult<Result> = { instance: string } & ({ result: Result } | { error: ErpProxyError });

export async function* callFleet<Result>(
  settings: SendSettings,
  call: ExecuteCall,
  choice: FleetChoice,
  options: CallOptions,
): AsyncGenerator<FleetResult<Result>> {
  for await (const line of sendExport(settings, 'fleet', call, { call, ...choice }, options, 1)) {
    const { instance, result, error } = JSON.parse(line);
    // The last line has counts.
    if (instance === undefined) return;
    yield error ? { instance, error: readError(error, { status: 200 }) } : { instance, result };
  }
  throw new ErpProxyError('invalid_answer', 'The answer broke off.');
}
