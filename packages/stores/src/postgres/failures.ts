/**
 * Describes failures of PostgreSQL, of the network and of TLS for operators: what is wrong and what to do. Does no I/O.
 */
import { StoreError, UnknownOutcomeError } from '../store-error.ts';

/** Message of the driver, which has no code for this failure. */
const TLS_MISSING = 'The server does not support SSL connections';

/** Throws a {@link StoreError} that names host and database, but not the URL, which may contain a password. */
export function throwStoreError(label: string, error: unknown): never {
  const reason = describeFailure(error);
  const message = `The store ${label} cannot be used: ${reason ?? readMessage(error)}`;
  throw new StoreError(message, { cause: error, ...(reason === undefined ? {} : { reason }) });
}

/** Throws for a commit whose answer did not arrive. */
export function throwUnknownOutcome(label: string, error: unknown): never {
  const message = `The store ${label} did not say whether it made a change: ${describeFailure(error) ?? readMessage(error)}`;
  throw new UnknownOutcomeError(message, { cause: error });
}

/** Describes a failure; undefined if it is not in the tables below. */
export function describeFailure(error: unknown): string | undefined {
  if (error instanceof StoreError) return error.message;
  const known = FAILURES[readCode(error) ?? ''];
  return known ?? DRIVER_FAILURES.find(([pattern]) => pattern.test(readMessage(error)))?.[1];
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isTlsMissing(error: unknown): boolean {
  return error instanceof Error && error.message === TLS_MISSING;
}

/** The SQLSTATE of PostgreSQL, or the code of Node. */
export function readCode(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  return String(error.code);
}

const REFUSED_ROLE =
  'it refuses this user from here, or its password. Check both in store.url, and pg_hba.conf of the server.';
const UNREACHED = 'it cannot be reached. Check host and port of store.url, and whether the server runs.';
const UNKNOWN_HOST = 'its host has no address. Check the host of store.url.';
const BROKEN_OFF = 'it broke the connection off. See the log of the server.';
const NOT_NOW = 'it is starting up or shutting down. Try again.';
const UNTRUSTED =
  'its certificate is signed by nobody trusted here. Name the file of its authority with sslrootcert in store.url.';

const FAILURES: Record<string, string> = {
  '28000': REFUSED_ROLE,
  '28P01': REFUSED_ROLE,
  '23505': 'it has a row of that id or name already.',
  '3D000': 'there is no such database. Create it, or correct store.url.',
  '3F000': 'there is no schema to make tables in. Create the one that search_path names.',
  '25006':
    'it can only be read. If it is a standby, name the primary in store.url. Otherwise see its setting default_transaction_read_only: some services set it when the disk is full.',
  '42501':
    'the user may not make or use the tables. Make it the owner of the database, or of a schema in it.',
  '42P07': 'the schema has tables of another program. Give the proxy a database or a schema of its own.',
  '53100': "the server's disk is full. Free some space there.",
  '53300': 'the server has no connection left. Raise its max_connections, or run fewer replicas.',
  '55P03': 'other sessions use its tables, such as a backup. Try again when they have ended.',
  '57014': 'a statement took too long. See the load of the server.',
  '57P01': NOT_NOW,
  '57P02': NOT_NOW,
  '57P03': NOT_NOW,
  ECONNREFUSED: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
  ENOENT: UNREACHED,
  ETIMEDOUT: UNREACHED,
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ECONNRESET: BROKEN_OFF,
  EPIPE: BROKEN_OFF,
  CERT_HAS_EXPIRED: 'its certificate has expired. Renew it on the server.',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for another name. Take the name that it is for as the host of store.url, or sslmode=verify-ca.',
};

/** Failures that the driver or a pooler reports only by their messages. */
const DRIVER_FAILURES: readonly [RegExp, string][] = [
  [
    /unsupported startup parameter/i,
    'a pooler refuses settings of the session. Connect directly, or see docs/postgresql.md#poolers about its ignore_startup_parameters.',
  ],
  [
    new RegExp(TLS_MISSING),
    'it speaks no TLS. Turn ssl on there, or set sslmode=disable in store.url where nobody can listen in between.',
  ],
  [
    /password must be a (non-empty )?string/,
    'it asks for a password. Put it into store.url: postgres://<user>:<password>@<host>/<database>.',
  ],
  [/timeout/i, 'it does not answer in time.'],
  [/^(Connection terminated|Client has encountered a connection error)/, BROKEN_OFF],
];
