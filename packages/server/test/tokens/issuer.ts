/** For tests: an issuer of tokens over HTTP, whose keys, answers and tokens tests choose. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { listenOnFreePort } from '../listen.ts';

type Members = Record<string, unknown>;

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  /** The public key as in the key set. */
  jwk: Members;
}

export interface Issuer {
  url: string;
  /** The keys in the issuer's key set. */
  keys: SigningKey[];
  /** Paths of the requests so far. */
  asked: string[];
  /** Answers requests in place of the issuer; null: the issuer answers. */
  answer: ((path: string) => { status: number; body: string } | null) | null;
  close(): void;
}

/** The keys made so far: making one takes long, and no test changes a key. */
const made = new Map<string, SigningKey>();

export function makeKey(kid: string, alg = 'RS256', bits = 2048): SigningKey {
  const name = `${kid} ${alg} ${bits}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const { publicKey, privateKey } = makePair(alg, bits);
  const key = { kid, alg, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg, use: 'sig' } };
  made.set(name, key);
  return key;
}

function makePair(alg: string, bits: number): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg.startsWith('ES')) return generateKeyPairSync('ec', { namedCurve: CURVES[alg]! });
  if (alg.startsWith('Ed')) return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: bits });
}

const CURVES: Record<string, string> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

export async function startIssuer(keys: SigningKey[] = [makeKey('first')]): Promise<Issuer> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    const given = issuer.answer?.(path) ?? null;
    const body =
      path === '/.well-known/openid-configuration'
        ? { issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` }
        : { keys: issuer.keys.map(({ jwk }) => jwk) };
    response.writeHead(given?.status ?? 200, { 'content-type': 'application/json' });
    response.end(given?.body ?? JSON.stringify(body));
  });
  const port = await listenOnFreePort(server);
  const issuer: Issuer = {
    url: `http://127.0.0.1:${port}`,
    keys,
    asked: [],
    answer: null,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return issuer;
}

/** A signed token. `header` and `claims` are changes; a text replaces the whole JSON. */
export function signToken(key: SigningKey, claims: Members | string, header: Members | string = {}): string {
  const head =
    typeof header === 'string'
      ? header
      : JSON.stringify({ alg: key.alg, typ: 'at+jwt', kid: key.kid, ...header });
  const body = typeof claims === 'string' ? claims : JSON.stringify(claims);
  const signed = `${encode(head)}.${encode(body)}`;
  return `${signed}.${signBytes(key, Buffer.from(signed)).toString('base64url')}`;
}

/** A token whose signature is an HMAC, under any secret. */
export function signHmac(secret: string | Buffer, header: Members, claims: Members): string {
  const signed = `${encode(JSON.stringify(header))}.${encode(JSON.stringify(claims))}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function signBytes({ alg, privateKey }: SigningKey, bytes: Buffer): Buffer {
  if (alg.startsWith('Ed')) return sign(null, bytes, privateKey);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return sign(
    hash,
    bytes,
    alg.startsWith('PS') ? { key: privateKey, padding: 6, saltLength: -1 } : privateKey,
  );
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}

export const AUDIENCE = 'https://erp.example.com';
export const READER = {
  instances: ['*'],
  origins: ['*'],
  models: { '*': ['read', 'search*'] },
  read_only: true,
};

/** An entry of `auth.issuers` for the issuer. */
export function describeIssuer({ url }: Pick<Issuer, 'url'>, more: Members = {}): Members {
  return {
    name: 'corp',
    issuer: url,
    audience: [AUDIENCE],
    allowPrivate: true,
    rules: [{ policy: READER }],
    ...more,
  };
}

/** Claims of a valid token at this time, in milliseconds since 1970. */
export function makeClaims({ url }: Pick<Issuer, 'url'>, now: number, more: Members = {}): Members {
  const iat = Math.floor(now / 1000);
  return { iss: url, aud: AUDIENCE, sub: 'ada', iat, exp: iat + 600, ...more };
}
