/** For tests: builds the version of an instance that a change applies to. */
import type { Instances, InstanceVersion } from './instances.ts';

/** Uses the id of the instance that has this name now, even if its version is another one. */
export async function findVersion(
  instances: Pick<Instances, 'get'>,
  name: string,
  version: number,
): Promise<InstanceVersion> {
  const record = await instances.get(name);
  return { id: record?.id ?? 'missing', name, version };
}
