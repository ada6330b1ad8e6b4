/** The terms of the authorization server, for those who connect it. Loads nothing that implements it. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Paths below the address of the proxy. */
export const PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  keys: '/oauth/jwks',
  /** The pages on which a person signs in and agrees. */
  pages: '/oauth/sign-in',
} as const;

export const METADATA_PATH = '/.well-known/oauth-authorization-server';

/** `retry-after` of answers with 503, in seconds: as for calls whose key or policy the store does not tell. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/** What an application may do: the tools of agents, and calls. */
export const SCOPES = ['mcp', 'erp'] as const;

/** Somebody whom a provider, or Odoo, has just signed in. */
export interface SignedInPerson {
  /** `<provider>/<subject>` */
  readonly id: string;
  readonly name: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** By which the provider can be asked again; null: there is none. */
  readonly refreshToken: string | null;
  /** Hash of the session at the provider; null: not known. */
  readonly providerSession: string | null;
  /** When the provider must be asked again. Milliseconds since 1970. */
  readonly askAt: number;
  /** For a person who signed in by Odoo: name of its server; otherwise null. */
  readonly serverId: string | null;
}

/** What a page or a redirect sends to a browser. */
export interface BrowserAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a browser sends with a form of a page. */
export type Form = Readonly<Record<string, string>>;

/** Who sends a form. */
export interface Sender {
  readonly address: string;
  readonly requestId: string;
}

/** An answer with JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: object;
}

export interface Authorization {
  /** Builds what the first request would wait for. Rejects if the store fails. */
  prepare(): Promise<void>;
  /** The metadata of the server (RFC 8414). */
  readonly metadata: object;
  /** The public keys, as a JSON Web Key Set. Rejects if the store fails. */
  publishKeys(): Promise<object>;
  /** Answers a request to one of the paths that applications use: authorize, token and revoke. */
  serve(request: IncomingMessage, response: ServerResponse, address: string): Promise<void>;
  /** Registers an application (RFC 7591). */
  register(body: unknown, address: string): Promise<JsonAnswer>;
  /** Shows the page of a sign-in. `problem`: why the last step has failed. */
  showPage(
    request: IncomingMessage,
    response: ServerResponse,
    given: { address: string; problem: string | undefined },
  ): Promise<BrowserAnswer>;
  /**
   * The id of the sign-in of this browser, for its provider to come back to. Null: there is none, or the browser has
   * waited too long.
   */
  findSignIn(request: IncomingMessage, response: ServerResponse, address: string): Promise<string | null>;
  /** Address of the page of a sign-in. */
  locatePage(signIn: string): string;
  /** Takes whom the provider has confirmed. Sends the browser, which the person uses, to the page. */
  takePerson(signIn: string, person: Omit<SignedInPerson, 'serverId'>): Promise<BrowserAnswer>;
  /** Takes a form of the page: login and key of Odoo, or the answer of the person. */
  takeForm(
    request: IncomingMessage,
    response: ServerResponse,
    form: Form,
    sender: Sender,
  ): Promise<BrowserAnswer>;
}
