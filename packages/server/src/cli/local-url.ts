/** The address at which a program on this machine reaches a server that listens on `host`. */

/** An address that means "every interface" is one to listen on; it is reached by the loopback address. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

export function makeLocalUrl(host: string, port: number | string): string {
  const reached = LOOPBACK_OF[host] ?? host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
