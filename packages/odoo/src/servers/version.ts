/** How to ask for Odoo's version without side effects on the server, and how to read the answer. Pure functions. */
import { isObject } from '@erp-proxy/json';

/** The answer of `common.version`, with Odoo's own member names. */
export interface OdooVersion {
  server_version: string;
  server_version_info: (string | number)[];
  server_serie: string;
  protocol_version: number;
}

/** The first version with `/json/2`. */
const JSON2_SINCE = 19;

/**
 * The first version in which `/jsonrpc` is exempt from the login cooldown (docs/odoo-facts.md#wrong-key-cost,
 * docs/odoo-facts.md#login-cooldown).
 */
const LOCKS_NOBODY_OUT_SINCE = 16;

/**
 * The body of `common.version` for `/jsonrpc`. It opens no database and creates no session, unlike the version pages
 * (docs/odoo-facts.md#version-pages).
 */
export const VERSION_BODY: Uint8Array = Buffer.from(
  '{"jsonrpc":"2.0","method":"call","params":{"service":"common","method":"version","args":[]},"id":1}',
);

/** Reads the answer of `/jsonrpc` to {@link VERSION_BODY}; null if it is not a version. */
export function readJsonrpcVersion(body: Uint8Array): OdooVersion | null {
  const answer = parseObject(body);
  const version = answer?.['result'];
  if (!isObject(version)) return null;
  const { server_version, server_version_info, server_serie, protocol_version = 1 } = version;
  if (typeof server_version !== 'string' || typeof server_serie !== 'string') return null;
  if (!isVersionInfo(server_version_info) || typeof protocol_version !== 'number') return null;
  return { server_version, server_version_info, server_serie, protocol_version };
}

/** Reads `GET /json/version` (19 and later), `{"version_info": […], "version": "…"}`; null if it is not a version. */
export function readJsonVersion(body: Uint8Array): OdooVersion | null {
  const answer = parseObject(body);
  const version = answer?.['version'];
  const info = answer?.['version_info'];
  if (typeof version !== 'string' || !isVersionInfo(info)) return null;
  const serie = /^(saas~)?\d+\.\d+/.exec(version)?.[0] ?? version;
  return { server_version: version, server_version_info: info, server_serie: serie, protocol_version: 1 };
}

/** The series, such as "19.0" or "saas~18.2"; null if it has another form. Another program may send any text. */
export function readSerie({ server_serie }: OdooVersion): string | null {
  return /^(?:saas[~-])?\d{1,4}(?:\.\d{1,4}){0,2}$/.test(server_serie) ? server_serie : null;
}

/** Whether this version has `/json/2`. */
export function hasJson2(version: OdooVersion): boolean {
  return isAtLeast(version, JSON2_SINCE);
}

/** Whether wrong keys over `/jsonrpc` lock no address out. */
export function locksNobodyOut(version: OdooVersion): boolean {
  return isAtLeast(version, LOCKS_NOBODY_OUT_SINCE);
}

function isAtLeast(version: OdooVersion, since: number): boolean {
  const major = readMajor(version);
  return major !== null && major >= since;
}

/** The number before the point: 19 of "19.0", 18 of "saas~18.2"; null if there is none. */
export function readMajor({ server_serie }: OdooVersion): number | null {
  const [, major] = /^(?:saas~)?(\d{1,4})(?:\.|$)/.exec(server_serie) ?? [];
  return major === undefined ? null : Number(major);
}

function parseObject(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Numbers and strings, as in `[19, 0, 0, "final", 0, ""]`. */
function isVersionInfo(value: unknown): value is (string | number)[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' || typeof item === 'number');
}
