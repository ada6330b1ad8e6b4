/** Processor time that this thread has used. Other programs and other threads do not lengthen it. */
export function readThreadCpuMs(): number {
  // Reading the time of the process makes Linux add the time that the thread has used since its last tick, up to 4 ms.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
