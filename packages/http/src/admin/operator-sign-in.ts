/**
 * Signs persons in by an identity provider, with redirects of their browser, and finds their sessions. Redirects lead
 * to the provider, to a page of the console or, if a sign-in for a program fails, to the program at 127.0.0.1, and
 * nowhere else.
 */

import { AdminError, createAdminError, describeProblem, toAdminError } from '@erp-proxy/admin/errors';
import {
  type ConfirmedPerson,
  type OperatorSession,
  type Operators,
  ProviderError,
  type ReturnTo,
  SIGN_IN_MS,
  type SignInFault,
  type WaitingProgram,
} from '@erp-proxy/admin/operators';
import type { BrowserAnswer } from '@erp-proxy/authorization/terms';
import { SESSION_HEADER } from '@erp-proxy/contract/admin';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isConsolePath } from '../console/console-routes.ts';
import type { Login, SignedIn } from './login.ts';
import { showProgramPage } from './program-page.ts';
import { type CookieScope, nameSessionCookie, PROGRAM_PREFIX, printCookie, readCookie } from './session.ts';

/** Belongs to one sign-in of one browser. */
const SIGN_IN_COOKIE = 'ep_sign_in';

/** Methods throw an AdminError to refuse a request. */
export interface OperatorSignIn {
  /** Address that begins a sign-in. */
  readonly startUrl: string;
  /** Sends the browser to the provider. */
  start(end: SignInEnd, reply: FastifyReply): Promise<void>;
  /**
   * Takes the answer of the provider, and sends the browser to a page of the console, or shows a page that leads to the
   * waiting program.
   */
  finish(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The session that a program takes with its code; null if there is none. */
  takeOver(code: string, proof: string): Promise<{ person: SignedIn; value: string } | null>;
  /** Null if the session has ended. If it was renewed, sets the new cookie, or the header for programs. */
  find(value: string, holder: 'browser' | 'program', reply: FastifyReply): Promise<SignedIn | null>;
  /** Takes a logout token of the provider. */
  endByProvider(logoutToken: string): Promise<void>;
  /** Tells the provider that a person signs out, without waiting for it. Null if there is no such session. */
  end(value: string): Promise<SignedIn | null>;
}

/** What a request that begins a sign-in says of its end. */
export interface SignInEnd {
  /** Path of the page of the console to open. Default: the first one. */
  returnTo: string | undefined;
  /** The program to go to in place of a page. */
  program: WaitingProgram | null;
  /** Id of the sign-in of an application to go to in place of a page. Left out: none. */
  application?: string;
}

/** The authorization server of the proxy, for which persons sign in, too. */
export interface ApplicationSignIn {
  /** Address of the page of a sign-in. */
  locatePage(application: string): string;
  /** Takes who has signed in, and sends the browser to the page. */
  takePerson(application: string, person: ConfirmedPerson): Promise<BrowserAnswer>;
}

export interface OperatorSignInOptions extends Pick<CookieScope, 'isHostShared'> {
  operators: Operators;
  /** Null: persons sign in for no application. */
  applications: ApplicationSignIn | null;
  /** Address under which browsers reach the proxy. */
  publicUrl: string;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Records a login, or a refused one. `id` and `name`: the person, if it is known. */
  record: (action: Login['action'], person: SignedIn | null, request: FastifyRequest) => void;
  /** Resolves after the delay of a refused login; rejects with an AdminError if there are too many. */
  slowDown: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

export function createOperatorSignIn(options: OperatorSignInOptions): OperatorSignIn {
  const { operators, applications, isHostShared, clock, record, slowDown } = options;
  const url = new URL(options.publicUrl);
  const root = `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  const rootPath = url.pathname.replace(/\/$/, '');
  const adminPath = `${rootPath}/admin/v1`;
  const isSecure = url.protocol === 'https:' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  const endOfSignIn = printSignIn('', 0);

  function printSignIn(value: string, maxAgeMs: number): string {
    // Lax: the browser comes back by a redirect of the provider, which is another site.
    const path = `${adminPath}/session`;
    return printCookie({ name: SIGN_IN_COOKIE, value, path, maxAgeMs, sameSite: 'Lax', isSecure });
  }

  function printSession(value: string, endsAt: number): string {
    // The path is named, because routes in several folders set and take this cookie.
    const path = isHostShared ? rootPath : '/';
    const maxAgeMs = endsAt - clock();
    const name = nameSessionCookie({ isSecure, path });
    return printCookie({ name, value, path, maxAgeMs, sameSite: 'Strict', isSecure });
  }

  const findSession = (value: string) =>
    operators.find(value).catch((error: unknown) => {
      throw explainError(error);
    });

  function locateEnd(returnTo: ReturnTo | null): string {
    if (typeof returnTo === 'string' || returnTo === null) return `${root}/sign-in`;
    return 'application' in returnTo ? applications!.locatePage(returnTo.application) : locate(returnTo);
  }

  const showFault = (fault: SignInFault, returnTo: ReturnTo | null, reply: FastifyReply) => {
    void reply.redirect(`${locateEnd(returnTo)}?problem=${fault}`, 303);
  };

  return {
    startUrl: `${root}/admin/v1/session/start`,

    async start({ returnTo, program, application }, reply) {
      const end = application === undefined ? (program ?? readPath(returnTo)) : { application };
      try {
        const { url: address, cookie } = await operators.begin(end);
        reply.header('set-cookie', printSignIn(cookie, SIGN_IN_MS));
        void reply.redirect(address, 303);
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        showFault('away', end, reply);
      }
    },

    async finish(request, reply) {
      const { search } = new URL(request.url, root);
      const cookie = readCookie(SIGN_IN_COOKIE, request.headers.cookie);
      const outcome = await operators.finish(new URLSearchParams(search), cookie).catch((error: unknown) => {
        throw toAdminError(error);
      });
      if ('fault' in outcome) {
        const { fault, returnTo } = outcome;
        record('login.refused', null, request);
        if (fault !== 'away') await slowDown(request, reply);
        reply.header('set-cookie', endOfSignIn);
        return showFault(fault, returnTo, reply);
      }
      if ('person' in outcome) {
        const { person, returnTo: waiting } = outcome;
        reply.header('set-cookie', endOfSignIn);
        const { status, headers, body } = await applications!.takePerson(waiting.application, person);
        return void reply.code(status).headers(headers).send(body);
      }
      const { session, value, returnTo } = outcome;
      const { role } = session;
      if (typeof returnTo === 'object') {
        // A program administers the proxy; a person without a role has pages of their own.
        if (role === null) {
          reply.header('set-cookie', endOfSignIn);
          return showFault('no_role', returnTo, reply);
        }
        const code = await operators.handOver(value, returnTo).catch((error: unknown) => {
          throw toAdminError(error);
        });
        reply.header('set-cookie', endOfSignIn);
        showProgramPage({ ...session, role }, `${locate(returnTo)}?code=${code}`, reply);
      } else {
        reply.header('set-cookie', [printSession(value, session.endsAt), endOfSignIn]);
        void reply.redirect(root + returnTo, 303);
      }
      record('login.person', authenticate(session), request);
    },

    async takeOver(code, proof) {
      const value = await operators.takeOver(code, proof).catch((error: unknown) => {
        throw toAdminError(error);
      });
      const found = value === null ? null : await findSession(value);
      const role = found?.session.role ?? null;
      if (found === null || role === null) return null;
      return { person: { ...authenticate(found.session), role }, value: found.value ?? value! };
    },

    async find(value, holder, reply) {
      const found = await findSession(value);
      if (found === null) return null;
      const { session } = found;
      if (found.value !== null) {
        if (holder === 'program') reply.header(SESSION_HEADER, PROGRAM_PREFIX + found.value);
        else reply.header('set-cookie', printSession(found.value, session.endsAt));
      }
      return authenticate(session);
    },

    async endByProvider(logoutToken) {
      try {
        await operators.endByProvider(logoutToken);
      } catch (error) {
        if (!(error instanceof ProviderError) || error.fault === 'away') throw explainError(error);
        throw new AdminError(describeProblem(400, 'This is no valid logout token of the provider.'), {
          cause: error,
        });
      }
    },

    async end(value) {
      const session = await operators.end(value).catch((error: unknown) => {
        throw toAdminError(error);
      });
      return session && authenticate(session);
    },
  };
}

function authenticate({ id, name, role, instances, otherRoles, endsAt }: OperatorSession): SignedIn {
  return { type: 'person', id, name, role, instances, otherRoles, expiresAt: endsAt };
}

function locate({ port }: WaitingProgram): string {
  return `http://127.0.0.1:${port}/`;
}

const NOWHERE = 'http://nowhere.invalid';

/** The cookie of a sign-in must have less than 4 KiB. */
const RETURN_TO_LENGTH_MAX = 1500;

/** The path and query of a page of the console. Any other address becomes that of the first page. */
function readPath(given: string | undefined): string {
  // As browsers read it: `//host`, `/\host` and `/<tab>/host` name another host.
  const url = given?.startsWith('/') ? URL.parse(given, NOWHERE) : null;
  const isOwn = url !== null && url.origin === NOWHERE && isConsolePath(url.pathname);
  const path = isOwn ? url.pathname + url.search : '/';
  return path.length <= RETURN_TO_LENGTH_MAX ? path : '/';
}

const RETRY_AFTER_SECONDS = 10;

function explainError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return toAdminError(error);
  const problem = describeProblem(
    503,
    'The identity provider does not say whether your session may go on. Try again when it answers.',
  );
  return new AdminError(problem, { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** The error of these routes without a provider. */
export function createNoProviderError(): AdminError {
  return createAdminError(404, 'Nobody can sign in here by an identity provider: operators.issuer is empty.');
}
