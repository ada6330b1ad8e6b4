/** Finds settings of Redis that can cause a loss of data, as far as `INFO` shows them. Pure. */

/** Returns texts for the operator; none if no data can be lost. `appendfsync` is not in `INFO`. */
export function findLosses(info: string): string[] {
  const read = (name: string) => new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];
  const losses: string[] = [];
  if (read('aof_enabled') === '0')
    losses.push('appendonly is off, so that a restart loses keys: set it to yes, and appendfsync to always');
  const policy = read('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction' && read('maxmemory') !== '0')
    losses.push(
      `maxmemory-policy is ${policy}, so that keys are evicted when it is full: set it to noeviction`,
    );
  return losses;
}
