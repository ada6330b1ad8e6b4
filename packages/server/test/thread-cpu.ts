/** Processor time that this thread has used. Other programs and other threads do not lengthen it. */
export function readThreadCpuMs(): number {
  // Linux adds what the thread has used since its last tick, up to 4 ms, when the time of the process is read.
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
