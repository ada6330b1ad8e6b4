/**
 * Reads a `postgres://` URL: the address of the server, and how to verify its certificate. Opens no connection. The URL
 * may contain a password, so an error names the part that is wrong and never repeats the URL.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { StoreError } from '../store-error.ts';

export interface PostgresAddress {
  /** Name for operators, without role and password. */
  label: string;
  host: string;
  port: number;
  user: string;
  /** Left out if the URL has none. */
  password?: string;
  database: string;
  /** Settings of the session, for example `-c search_path=erp_proxy`. */
  options?: string;
  ssl: ConnectionOptions | false;
  /** True if a server without TLS is accepted. */
  isTlsOptional: boolean;
}

const DEFAULT_PORT = 5432;
const PARAMETERS = ['sslmode', 'sslrootcert', 'options'];
const MODES = ['disable', 'prefer', 'no-verify', 'verify-ca', 'require', 'verify-full'];
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

export function readPostgresAddress(text: string): PostgresAddress {
  const url = URL.parse(text);
  if (url === null) {
    throw new StoreError(
      'store.url is not an address: write postgres://<user>:<password>@<host>:<port>/<database>, ' +
        'with %40 for an @ and %2F for a / in the password.',
    );
  }
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw new StoreError(`store.url has the parameter "${name}"; known are ${PARAMETERS.join(', ')}.`);
    }
  }
  const host = decode(url.hostname, 'host').replace(/^\[(.+)\]$/, '$1');
  const user = decode(url.username, 'user');
  const password = decode(url.password, 'password');
  const database = decode(url.pathname.slice(1), 'database');
  const options = url.searchParams.get('options');
  if (host === '') throw new StoreError('store.url names no host: postgres://<user>@<host>/<database>.');
  if (host.includes(',')) throw new StoreError('store.url names several hosts; only one can be used.');
  if (user === '') throw new StoreError('store.url names no user: postgres://<user>@<host>/<database>.');
  if (database === '') {
    throw new StoreError('store.url names no database: postgres://<user>@<host>/<database>.');
  }
  return {
    label: `postgres ${host}/${database}`,
    host,
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    user,
    ...(password === '' ? {} : { password }),
    database,
    ...(options === null ? {} : { options }),
    ...readTls(host, url.searchParams.get('sslmode'), url.searchParams.get('sslrootcert')),
  };
}

/**
 * Names and meanings of the modes are those of libpq, with two exceptions. `require` verifies the certificate as
 * `verify-full` does; libpq accepts any certificate, which lets an attacker in between read everything. Without a mode,
 * only connections to this machine are unencrypted. The `require` of libpq is `no-verify` here.
 */
function readTls(
  host: string,
  given: string | null,
  rootFile: string | null,
): Pick<PostgresAddress, 'ssl' | 'isTlsOptional'> {
  const isThisMachine = LOOPBACK.test(host) || host.startsWith('/');
  const mode = given ?? (isThisMachine && rootFile === null ? 'disable' : 'verify-full');
  if (!MODES.includes(mode)) {
    throw new StoreError(`store.url has the sslmode "${mode}"; known are ${MODES.join(', ')}.`);
  }
  if (mode === 'verify-ca' && rootFile === null) {
    throw new StoreError(
      'store.url has sslmode=verify-ca without sslrootcert: any certificate of a public authority would do. ' +
        'Name the file of your own authority, or take verify-full.',
    );
  }
  const isTlsOptional = mode === 'prefer';
  if (mode === 'disable') return { ssl: false, isTlsOptional };
  if (isTlsOptional || mode === 'no-verify') return { ssl: { rejectUnauthorized: false }, isTlsOptional };
  return {
    ssl: {
      ...(rootFile === null ? {} : { ca: readCertificates(rootFile) }),
      ...(mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
    },
    isTlsOptional,
  };
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new StoreError(`The file that sslrootcert of store.url names, ${file}, cannot be read (${code}).`);
  }
}

function decode(part: string, name: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new StoreError(`The ${name} in store.url has a % that begins no escape: write it as %25.`);
  }
}
