/** Parses `redis.url`. An error names the invalid part and never repeats the address, which may contain a password. */
export interface RedisAddress {
  /** Address for operators, without user and password. */
  label: string;
  host: string;
  port: number;
  /** Database number. */
  db: number;
  /** Left out if the address has none. */
  username?: string;
  password?: string;
  /** Left out without TLS. */
  tls?: object;
}

const SCHEMES = new Map([
  ['redis:', { isTls: false }],
  ['rediss:', { isTls: true }],
  ['valkey:', { isTls: false }],
  ['valkeys:', { isTls: true }],
]);
const DEFAULT_PORT = 6379;
const EXAMPLE = 'redis://<user>:<password>@<host>:<port>/<number of the database>';

/** Parses `redis.url`. Throws a RangeError with a message for the operator. */
export function readRedisAddress(text: string): RedisAddress {
  const url = URL.parse(text);
  const scheme = SCHEMES.get(url?.protocol ?? '');
  if (url === null || scheme === undefined)
    throw new RangeError(`redis.url is not an address: write ${EXAMPLE}, or rediss:// for TLS.`);
  if (url.hostname === '') throw new RangeError(`redis.url names no host: write ${EXAMPLE}.`);
  if (url.search !== '' || url.hash !== '') throw new RangeError('redis.url takes nothing behind a ? or #.');
  if (!/^\/?\d*$/.test(url.pathname))
    throw new RangeError(`redis.url names a database that is not a number: write ${EXAMPLE}.`);
  const host = url.hostname.replace(/^\[(.+)\]$/, '$1');
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  const db = Number(url.pathname.slice(1));
  const username = decode(url.username, 'user');
  const password = decode(url.password, 'password');
  return {
    label: `redis ${url.hostname}:${port}/${db}`,
    host,
    port,
    db,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(scheme.isTls ? { tls: {} } : {}),
  };
}

function decode(part: string, name: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new RangeError(`The ${name} in redis.url has a % that begins no escape: write it as %25.`);
  }
}
