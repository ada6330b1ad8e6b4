/** Describes this process for a collector. */
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { readPairs } from './read-pairs.ts';

export interface ResourceOptions {
  /** Name of the service; null: the name in `resourceAttributes`, or else `erp-proxy`. */
  serviceName: string | null;
  /** Texts `name=value`, with %-escapes. */
  resourceAttributes: readonly string[];
}

/** `process` is unique for this process. */
export function describeResource(
  { serviceName, resourceAttributes }: ResourceOptions,
  { version, process }: { version: string; process: string },
): Resource {
  return resourceFromAttributes({
    'service.name': 'erp-proxy',
    ...Object.fromEntries(readPairs(resourceAttributes)),
    ...(serviceName === null ? null : { 'service.name': serviceName }),
    'service.version': version,
    'service.instance.id': process,
  });
}
