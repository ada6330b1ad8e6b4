/** Finds the address at which programs on this machine reach a server that listens on `host`. */

/** The loopback address, by which a server that listens on all interfaces is reached. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export function makeLocalUrl(host: string, port: number | string): string {
  const reached = LOOPBACK_OF[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
