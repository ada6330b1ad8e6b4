/**
 * The proxy as an OAuth 2.1 authorization server for its own resource. oidc-provider speaks the protocol; this file
 * connects it with the store, the pages and the persons. Knows no route.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type AuditedActor,
  type DescribeAction,
  describeAgreement,
  describeWithdrawal,
} from '@erp-proxy/admin';
import { CONSENTS_OF_PERSON_MAX, type Consents, type SigningKeys } from '@erp-proxy/control/consents';
import type { Vault } from '@erp-proxy/control/instances';
import type { EgressDispatcher } from '@erp-proxy/egress';
import type { SignInObjectStore } from '@erp-proxy/stores/ports';
import Provider, { type Client, type InteractionDetails } from 'oidc-provider';
import { CLIENT, createAdapters, NEW_CLIENT } from './adapter.ts';
import { createDocumentFetch } from './client-documents.ts';
import { createConfiguration, describeServer, SIGN_IN_SECONDS } from './configuration.ts';
import { type ConfirmDeps, createConfirm } from './confirm.ts';
import { createObjects } from './objects.ts';
import { type AskingApplication, showChoice, showConsent, showFault } from './pages.ts';
import { createRate, RETRY_AFTER_SECONDS } from './rates.ts';
import { isOnThisMachine, nameAddress, nameApplication } from './redirects.ts';
import { createRefreshTokens } from './refresh-tokens.ts';
import { register } from './registration.ts';
import { adaptRequest, findScopes, tellAddress } from './requests.ts';
import { type Asked, createSignIns, type SignedIn, type SignInsDeps } from './sign-ins.ts';
import {
  type Authorization,
  type BrowserAnswer,
  type Form,
  PATHS,
  type Sender,
  type SignedInPerson,
  UNAVAILABLE_RETRY_SECONDS,
} from './terms.ts';
import { UnavailableError, unwrapStoreFailure } from './unavailable.ts';

export interface AuthorizationOptions
  extends Pick<
    ConfirmDeps,
    'signIn' | 'leases' | 'isDenied' | 'askProvider' | 'findServer' | 'clock' | 'nowMs'
  > {
  consents: Consents;
  signingKeys: SigningKeys;
  objects: SignInObjectStore;
  isSignedOut: SignInsDeps['isSignedOut'];
  vault: Vault;
  /** Derives a secret that all replicas share, for a purpose. */
  deriveSecret: (purpose: string) => Uint8Array;
  egress: EgressDispatcher;
  /** Checks login and key at the Odoo of an instance, and connects the person. A text: why not. */
  signInByOdoo: (
    instance: string,
    credentials: { login: string; apiKey: string },
    sender: Sender,
  ) => Promise<SignedInPerson | string>;
  /** For the audit. */
  describeActionOf: (actor: AuditedActor) => DescribeAction;
  /** For what the proxy does by itself, because of what an application has done. */
  describeOwnAction: DescribeAction;
  onError: (error: unknown) => void;
  /** Called with each consent that the proxy has ended by itself. For the log. */
  onEnded: (ended: { consent: string; person: string; reason: string }) => void;
}

/** Binds who has signed in to the browser. */
const PERSON_COOKIE = 'ep_oauth_person';
const PERSON_SECRET = /(?:^|; *)ep_oauth_person=([\w-]+)/;
/** How long an application stays registered after the last consent to it has ended. */
const REGISTERED_MS = 60 * 86_400_000;
/** More than persons agree to. With more, the ones that expire first are forgotten. */
const REGISTERED_MAX = 50_000;
const RATES = {
  authorize: { perAddress: 120, total: 3000 },
  register: { perAddress: 60, total: 300 },
  fetch: { perAddress: 60, total: 600 },
};

const PROBLEMS = {
  denied: 'You did not sign in at the provider.',
  no_role: 'Your account may not use this proxy. Ask its operator for a rule that names you.',
  failed: 'The answer of the provider is not valid. Try again.',
  expired: 'The sign-in took too long, or belongs to another page. Try again.',
  away: 'The provider does not answer. Try again later.',
};

function explainProblem(name: string): string {
  return Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name as keyof typeof PROBLEMS] : PROBLEMS.failed;
}

const NOT_HERE =
  'This sign-in has expired, was answered, or belongs to another browser, or its application is not there.';

export function createAuthorization(options: AuthorizationOptions): Authorization {
  const { signIn, consents, signingKeys, egress, clock, nowMs, onError, onEnded } = options;
  const { url } = signIn;
  const objects = createObjects(options.objects, options.vault, clock);
  const refreshTokens = createRefreshTokens(options.deriveSecret('refresh tokens of applications'));
  const confirm = createConfirm(options);
  const signIns = createSignIns({ ...options, objects, makeRoom });
  const rates = {
    authorize: createRate(RATES.authorize, nowMs),
    register: createRate(RATES.register, nowMs),
    fetch: createRate(RATES.fetch, nowMs),
  };
  /** The address of the sender, for what the library does meanwhile: it has no request where a page is shown. */
  const senders = new AsyncLocalStorage<string>();
  const cookieKey = Buffer.from(options.deriveSecret('cookies of sign-ins')).toString('base64url');
  const fetchDocument = createDocumentFetch(egress);
  let built: { kid: string; provider: Provider; handle: ReturnType<Provider['callback']> } | null = null;

  async function endConsent(id: string, reason: string): Promise<void> {
    const consent = await consents.get(id);
    if (consent === null) return;
    const batch = describeWithdrawal(consent, options.describeOwnAction, reason);
    if (await consents.remove(id, batch)) onEnded({ consent: id, person: consent.person, reason });
  }

  async function makeRoom(person: string): Promise<void> {
    const own = await consents.listOf({ person });
    if (own.length < CONSENTS_OF_PERSON_MAX) return;
    const oldest = own.reduce((first, one) => (one.createdAt < first.createdAt ? one : first));
    await endConsent(oldest.id, 'its person has allowed newer ones');
  }

  async function keepRegistered(application: string, expiresAt: number): Promise<void> {
    await objects.extend(CLIENT, application, expiresAt);
    const found = await objects.find(NEW_CLIENT, application);
    if (found === null) return;
    await objects.put(CLIENT, application, { content: found.content, expiresAt, max: REGISTERED_MAX });
    await objects.remove(NEW_CLIENT, application);
  }

  const adapters = createAdapters({ objects, consents, refreshTokens, endConsent, clock });

  /** The library, which has its signing key from the start. */
  async function open() {
    const key = await signingKeys.current();
    if (built?.kid === key.kid) return built;
    const configuration = createConfiguration({
      url,
      key,
      cookieKey,
      adapters,
      findScopes: (resource) => findScopes(resource, url),
      fetchDocument,
      mayFetch: () => rates.fetch.take(senders.getStore() ?? ''),
      readConsent: (id) => consents.read(id),
      confirm,
      endConsent,
      touch: consents.touch,
      clock,
    });
    const provider = new Provider(url, configuration);
    provider.proxy = true;
    provider.RefreshToken.prototype.generateTokenId = function generateTokenId() {
      return refreshTokens.make(this.grantId ?? '');
    };
    provider.use(async (context, next) => {
      await next();
      if (context.status === 503) context.set('retry-after', String(UNAVAILABLE_RETRY_SECONDS));
    });
    provider.on('server_error', (_: unknown, error: unknown) => onError(error));
    provider.on('error', (error: unknown) => onError(error));
    built = { kid: key.kid, provider, handle: provider.callback() };
    return built;
  }

  /** The sign-in of this browser, and the application that asks; null: one of them is not there. */
  async function find(
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ): Promise<Found | null> {
    tellAddress(request, url);
    const { provider } = await open();
    let details: InteractionDetails;
    try {
      details = await provider.interactionDetails(request, response);
    } catch (error) {
      if (error instanceof Error && error.name === 'SessionNotFound') return null;
      return unwrapStoreFailure(error);
    }
    const { uid, params } = details;
    const client = await senders
      .run(address, () => provider.Client.find(String(params['client_id'])))
      .catch((error: Error & { expose?: boolean }) => {
        if (error instanceof UnavailableError) return unwrapStoreFailure(error);
        // Its document is not there any more, or not valid.
        if (error.expose === true) return undefined;
        throw error;
      });
    const redirectUri = String(params['redirect_uri']);
    if (client === undefined) return null;
    return {
      id: uid,
      provider,
      action: locatePage(uid),
      application: describeApplication(client, redirectUri),
      asked: {
        application: client.clientId,
        name: nameApplication(client.clientName, redirectUri),
        address: nameAddress(redirectUri),
        scopes: String(params['scope'] ?? '').split(' '),
        resource: String([params['resource']].flat()[0] ?? url),
      },
    };
  }

  async function ask({ action, application, asked }: Found, person: SignedIn): Promise<BrowserAnswer> {
    const allowed = await consents.listOf({ person: person.id });
    return showConsent({
      action,
      application,
      person,
      scopes: asked.scopes,
      until: printDay(clock() + signIn.consentMs),
      proof: person.proof,
      ownPage: person.serverId === null ? `${url}/me` : null,
      allowed: allowed.map(({ id, name, address, expiresAt }) => ({
        id,
        name,
        address,
        until: printDay(expiresAt),
      })),
    });
  }

  function choose({ action, application }: Found, problem: string | null, given: Form = {}): BrowserAnswer {
    const { instance, login } = given;
    return showChoice({ ...signIn, action, application, problem, given: { instance, login } });
  }

  /** Sends the browser to the page, with the secret that binds the person to it. Null: the person is denied. */
  async function takePerson(id: string, person: SignedInPerson): Promise<BrowserAnswer | null> {
    const secret = await signIns.put(id, person, clock() + SIGN_IN_SECONDS * 1000);
    if (secret === null) return null;
    const page = new URL(locatePage(id));
    // Lax: the browser comes from the provider, which is another site.
    const place = `Path=${page.pathname}; Max-Age=${SIGN_IN_SECONDS}; HttpOnly; SameSite=Lax`;
    const cookie = `${PERSON_COOKIE}=${secret}; ${place}${page.protocol === 'https:' ? '; Secure' : ''}`;
    const { headers, ...answer } = redirect(page.href);
    return { ...answer, headers: { ...headers, 'set-cookie': cookie } };
  }

  const locatePage = (id: string) => `${url}${PATHS.pages}/${id}`;
  const findPerson = ({ id }: Found, { headers }: IncomingMessage) =>
    signIns.find(id, PERSON_SECRET.exec(headers.cookie ?? '')?.[1]);

  async function signInByOdoo(found: Found, form: Form, sender: Sender): Promise<BrowserAnswer> {
    const { instance = '', login = '', api_key: apiKey = '' } = form;
    if (!signIn.odoo.includes(instance)) return choose(found, 'Choose one of the servers.', form);
    const person = await options.signInByOdoo(instance, { login, apiKey }, sender);
    if (typeof person === 'string') return choose(found, person, form);
    return (await takePerson(found.id, person)) ?? choose(found, PROBLEMS.no_role, form);
  }

  /** Withdraws another consent of the person, and asks again. */
  async function withdraw(
    found: Found,
    person: SignedIn,
    { proof, withdraw: id = '' }: Form,
    sender: Sender,
  ): Promise<BrowserAnswer> {
    if (!signIns.isProof(person, proof)) return showFault(403, NOT_HERE);
    const consent = await consents.get(id);
    if (consent?.person === person.id)
      await consents.remove(id, describeWithdrawal(consent, describeActionOf(person, sender)));
    return redirect(found.action);
  }

  function describeActionOf({ id, name }: SignedIn, sender: Sender): DescribeAction {
    return options.describeActionOf({ type: 'person', id, name, ...sender });
  }

  async function answer(
    found: Found,
    person: SignedIn,
    form: Form,
    sender: Sender,
  ): Promise<{ result: object } | BrowserAnswer> {
    if (!(await signIns.answer(found.id, person, form['proof']))) return showFault(403, NOT_HERE);
    if (form['answer'] !== 'allow') return { result: REFUSED };
    const describe = describeActionOf(person, sender);
    const { application } = found.asked;
    const agreed = await signIns.agree(person, found.asked, (id) =>
      describeAgreement({ ...found.asked, id, person: person.id }, describe),
    );
    if (agreed === null) return showFault(403, PROBLEMS.no_role);
    await keepRegistered(application, agreed.expiresAt + REGISTERED_MS);
    return {
      result: { login: { accountId: person.id, remember: false }, consent: { grantId: agreed.id } },
    };
  }

  return {
    prepare: async () => void (await open()),
    metadata: describeServer(url),
    publishKeys: () => signingKeys.publish(),

    async serve(request, response, address) {
      // The library also takes a slash at the end.
      const isStart = request.url?.split('?', 1)[0]?.replace(/\/$/, '') === PATHS.authorize;
      if (isStart && !rates.authorize.take(address)) {
        return sendAnswer(
          response,
          showFault(429, `Too many sign-ins. Try again in ${RETRY_AFTER_SECONDS / 60} minutes.`),
        );
      }
      if (isStart) request.url = adaptRequest(request.url ?? '', url);
      tellAddress(request, url);
      const { handle } = await open();
      await senders.run(address, () => handle(request, response));
    },

    register: (body, address) => register(body, address, { objects, rate: rates.register, url, clock }),

    async showPage(request, response, { address, problem }) {
      const found = await find(request, response, address);
      if (found === null) return showFault(400, NOT_HERE);
      const person = await findPerson(found, request);
      if (person !== null) return ask(found, person);
      if (problem !== undefined) return choose(found, explainProblem(problem));
      const isOnlyWay = signIn.providers.length === 1 && signIn.odoo.length === 0;
      return isOnlyWay ? redirect(`${found.action}/start`) : choose(found, null);
    },

    async findSignIn(request, response, address) {
      return (await find(request, response, address))?.id ?? null;
    },

    locatePage,
    takePerson: async (id, person) =>
      (await takePerson(id, { ...person, serverId: null })) ?? redirect(`${locatePage(id)}?problem=no_role`),

    async takeForm(request, response, form, sender) {
      const found = await find(request, response, sender.address);
      if (found === null) return showFault(400, NOT_HERE);
      const isOfPerson = form['answer'] !== undefined || form['withdraw'] !== undefined;
      if (!isOfPerson) return signInByOdoo(found, form, sender);
      const person = await findPerson(found, request);
      if (person === null) return showFault(400, NOT_HERE);
      if (form['withdraw'] !== undefined) return withdraw(found, person, form, sender);
      const answered = await answer(found, person, form, sender);
      if (!('result' in answered)) return answered;
      const next = await found.provider
        .interactionResult(request, response, answered.result)
        .catch(unwrapStoreFailure);
      return redirect(next);
    },
  };
}

interface Found {
  readonly id: string;
  readonly provider: Provider;
  /** Address of the page. */
  readonly action: string;
  readonly application: AskingApplication;
  readonly asked: Asked;
}

const REFUSED = { error: 'access_denied', error_description: 'the person did not agree' };

function describeApplication(client: Client, redirectUri: string): AskingApplication {
  const isDocument = /^https:/i.test(client.clientId);
  return {
    name: nameApplication(client.clientName, redirectUri),
    documentUrl: isDocument ? client.clientId : null,
    address: nameAddress(redirectUri),
    isOnThisMachine: isOnThisMachine(redirectUri),
  };
}

function printDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function redirect(location: string): BrowserAnswer {
  return { status: 303, headers: { location, 'cache-control': 'no-store' }, body: '' };
}

function sendAnswer(response: ServerResponse, { status, headers, body }: BrowserAnswer): void {
  response.writeHead(status, { ...headers });
  response.end(body);
}
