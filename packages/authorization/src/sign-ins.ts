/**
 * Sign-ins of persons for an application: who has signed in, and what they answer. A sign-in belongs to the browser in
 * which it has begun, by a signed cookie of the library, and to the browser in which the person has signed in, by a
 * secret. So a sign-in that somebody has begun and planted in the browser of another person answers nothing. An answer
 * counts once, for the page that has asked.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Consents } from '@erp-proxy/control/consents';
import { findRule, type SignIn } from '@erp-proxy/control/tokens/issuers';
import type { AuditBatch } from '@erp-proxy/stores/ports';
import type { Objects } from './objects.ts';
import type { SignedInPerson } from './terms.ts';

/** Who has signed in, for one sign-in. */
export interface SignedIn extends SignedInPerson {
  /** What a form must have that answers the page. */
  readonly proof: string;
  /** What the browser must have in which the person has signed in. */
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly signedInAt: number;
}

/** What an application asks for. */
export interface Asked {
  /** Id of the application. */
  readonly application: string;
  readonly name: string;
  readonly address: string;
  readonly scopes: readonly string[];
  readonly resource: string;
}

export interface SignInsDeps {
  signIn: SignIn;
  objects: Objects;
  consents: Pick<Consents, 'add'>;
  isDenied: (person: string) => Promise<boolean>;
  /** Whether the provider, or an administrator, has ended the session of a person who signed in at this time. */
  isSignedOut: (
    person: Pick<SignedInPerson, 'id' | 'providerSession'>,
    signedInAt: number,
  ) => Promise<boolean>;
  /** Ends the oldest consent of a person who has as many as possible. */
  makeRoom: (person: string) => Promise<void>;
  /** Milliseconds since 1970. */
  clock: () => number;
}

const KIND = 'SignedIn';
const SIGNED_IN_MAX = 5000;
const ID_BYTES = 18;

export interface SignIns {
  /** Returns the secret for the browser. Null: the person is denied, or no rule gives them a policy. */
  put(id: string, person: SignedInPerson, expiresAt: number): Promise<string | null>;
  /** `secret`: that of the browser. */
  find(id: string, secret: string | undefined): Promise<SignedIn | null>;
  /** True for the proof of the page. */
  isProof(signedIn: SignedIn, proof: string | undefined): boolean;
  /** True for the first answer with the proof of the page. */
  answer(id: string, signedIn: SignedIn, proof: string | undefined): Promise<boolean>;
  /** Stores the consent of the person. Returns its id; null: the person is denied. */
  agree(
    person: SignedIn,
    asked: Asked,
    describe: (consent: string) => AuditBatch,
  ): Promise<{ id: string; expiresAt: number } | null>;
}

export function createSignIns({
  signIn,
  objects,
  consents,
  isDenied,
  isSignedOut,
  makeRoom,
  clock,
}: SignInsDeps): SignIns {
  async function isAllowed({ id, claims }: SignedInPerson): Promise<boolean> {
    const issuer = signIn.issuers.get(id.slice(0, id.indexOf('/')));
    return issuer !== undefined && findRule(issuer.rules, claims) !== null && !(await isDenied(id));
  }

  return {
    async put(id, person, expiresAt) {
      if (!(await isAllowed(person))) return null;
      const [proof, secret] = [makeSecret(), makeSecret()];
      const content = { ...person, proof, secret, signedInAt: clock() };
      await objects.put(KIND, id, { content, expiresAt, max: SIGNED_IN_MAX });
      return secret;
    },
    async find(id, secret) {
      const found = await objects.find(KIND, id);
      if (found === null || found.consumedAt !== null) return null;
      const signedIn = found.content as unknown as SignedIn;
      return isSame(secret, signedIn.secret) ? signedIn : null;
    },
    isProof,
    answer: async (id, signedIn, proof) =>
      isProof(signedIn, proof) && (await objects.consume(KIND, id, clock())),
    async agree(person, { application, ...asked }, describe) {
      if (!(await isAllowed(person)) || (await isSignedOut(person, person.signedInAt))) return null;
      await makeRoom(person.id);
      const id = makeSecret();
      const now = clock();
      const { claims, refreshToken, providerSession, askAt, serverId } = person;
      const expiresAt = now + signIn.consentMs;
      await consents.add(
        {
          id,
          person: person.id,
          application,
          ...asked,
          providerSession,
          createdAt: now,
          expiresAt,
          claims,
          refreshToken,
          askAt,
          confirmedAt: now,
          serverId,
        },
        describe(id),
      );
      return { id, expiresAt };
    },
  };
}

function makeSecret(): string {
  return randomBytes(ID_BYTES).toString('base64url');
}

function isSame(given: string | undefined, right: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(given ?? ''), digest(right));
}

function isProof({ proof: right }: SignedIn, proof: string | undefined): boolean {
  return isSame(proof, right);
}
