/** For tests: the version of an instance that a change applies to. */
import type { Instances, InstanceVersion } from './instances.ts';

/** The instance is the one that has this name now. It may have another version. */
export async function findVersion(
  instances: Pick<Instances, 'get'>,
  name: string,
  version: number,
): Promise<InstanceVersion> {
  const record = await instances.get(name);
  return { id: record?.id ?? 'missing', name, version };
}
