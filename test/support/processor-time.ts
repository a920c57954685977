/** Processor time that work takes, in milliseconds: unlike the time on a clock, a busy machine makes it no longer. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
