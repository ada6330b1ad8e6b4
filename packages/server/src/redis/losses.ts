/** Finds settings of Redis that can lose data, as far as `INFO` shows them. Pure. */

/** Texts for the operator; empty if there are none. `appendfsync` is not in `INFO`. */
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
