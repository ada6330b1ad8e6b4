/** The operations of an administrator on client keys. */
import { type InvalidMember, type KeyChanges, type KeyView, nameActor, pick } from '@erp-proxy/contract';
import { KEY_INPUT } from '@erp-proxy/contract/admin';
import { type KeyChange, PERSON_ID, readIssuer } from '@erp-proxy/control/keys';
import { LOSS_MESSAGE, losesPublishable, parsePolicy } from '@erp-proxy/policy/parse';
import type { KeyRecord } from '@erp-proxy/stores/ports';
import { z } from 'zod';
import type { Actor, Admin, AdminDeps } from './admin.ts';
import { type AdminError, createAdminError, createInputError } from './admin-error.ts';
import { type Changes, compareMembers, type DescribeAction } from './audited-actions.ts';
import { changeRow, createStaleError, hasVersion, retryConflicts } from './change-row.ts';
import { readPage } from './page.ts';
import { listInstancesOfPolicy, listInstancesOfPolicyText } from './policy-instances.ts';
import { readTime, showTime } from './time.ts';
import { showKey } from './views.ts';

type KeyAdmin = Pick<
  Admin,
  | 'listKeys'
  | 'listKeyNames'
  | 'createKey'
  | 'getKey'
  | 'updateKey'
  | 'revokeKey'
  | 'rotateKey'
  | 'explainCall'
>;

/** Position of a key in the list, which the store sorts by age. */
const PLACE = z.tuple([z.int(), z.string().regex(/^\w+$/)]);
/** Enough for the keys of one page of the audit in the console. */
const NAMES_MAX = 100;
const OVERLAP_SECONDS_MAX = 30 * 86_400;

export function createKeyAdmin(
  { keys, issuers, explain, clock }: AdminDeps,
  describeAction: DescribeAction,
  actor: Actor,
): KeyAdmin {
  const createdBy = JSON.stringify(nameActor(actor));
  const show = (key: KeyRecord) => showKey(key, clock());
  const describe = (action: string, id: string, changes: Changes, instances: readonly string[] | null) =>
    describeAction(action, `key ${id}`, changes, instances);

  async function find(id: string): Promise<KeyRecord> {
    const key = await keys.find(id);
    if (key === null) throw createAdminError(404, `There is no key ${JSON.stringify(id)}.`);
    return key;
  }

  function compare(key: KeyRecord, given: KeyChanges): Changes {
    const members = pick(show(key), Object.keys(KEY_INPUT));
    return compareMembers(members, { ...members, ...given });
  }

  return {
    listKeys({ state, search, name, ...page }) {
      const now = clock();
      const filters = { state: state && { is: state, now }, search, name };
      return readPage(page, {
        place: PLACE,
        placeOf: ({ createdAt, id }): z.infer<typeof PLACE> => [createdAt, id],
        list: (place, limit) =>
          keys.list({ ...filters, limit, after: place && { createdAt: place[0], id: place[1] } }),
        show,
        lengthOf: ({ policy }) => policy?.length ?? 0,
      });
    },

    async listKeyNames(query) {
      const ids = query.ids.split(',');
      if (ids.length > NAMES_MAX)
        throw createAdminError(400, `At most ${NAMES_MAX} ids can be asked for at once.`);
      const names = await keys.listNames(ids);
      return { items: names.map(({ id, name }) => ({ id, name })) };
    },

    async createKey(input) {
      const given = readGiven(input);
      checkPerson(given.for, issuers);
      const { for: person, ...members } = given;
      const made = { ...toKeyChange(members), person, name: input.name, createdBy };
      const { key, record } = await keys.create(made, ({ id, policy }) =>
        describe('key.create', id, compareMembers({}, given), listInstancesOfPolicyText(policy)),
      );
      return { ...show(record), key };
    },

    getKey: async (id) => show(await find(id)),

    async updateKey(id, changes, tag) {
      const given = readGiven(changes);
      await changeRow(
        () => find(id),
        tag,
        async (key) => {
          refuseLoss(show(key).policy, given.policy);
          if (given.for !== undefined && given.for !== key.person) throw PERSON_CHANGED;
          // Checks changed members only: an expired key may still be renamed.
          const changes = compare(key, given);
          const changed = Object.keys(changes);
          if (changed.length === 0) return 'done';
          const { for: _, ...members } = given;
          const change = toKeyChange(pick(members, changed as (keyof typeof members)[]));
          const before = listInstancesOfPolicyText(key.policy);
          const after = change.policy === undefined ? before : listInstancesOfPolicy(change.policy);
          const instances = before && after && [...new Set([...before, ...after])];
          return keys.update(id, key.version, change, describe('key.update', id, changes, instances));
        },
      );
      return show(await find(id));
    },

    async revokeKey(id) {
      const before = await find(id);
      if (before.revokedAt !== null) return show(before);
      const changes = { state: { from: show(before).state, to: 'revoked' } };
      const instances = listInstancesOfPolicyText(before.policy);
      await keys.revoke(id, describe('key.revoke', id, changes, instances));
      return show(await find(id));
    },

    async rotateKey(id, { overlap_seconds: seconds }, tag) {
      if (!(Number.isInteger(seconds) && seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX)) {
        throw createAdminError(
          400,
          'The old key can go on working for 30 days at most. Give the overlap in whole seconds.',
        );
      }
      if (tag !== undefined) {
        const key = await find(id);
        if (!hasVersion(key, tag)) throw createStaleError(key.version, tag);
      }
      const fresh = await retryConflicts(async () => {
        const rotated = await keys.rotate(
          id,
          { overlapMs: seconds * 1000, version: tag?.version, createdBy },
          ({ before, after }, made) => {
            const changes = {
              ...compareMembers(
                { expires_at: show(before).expires_at },
                { expires_at: show(after).expires_at },
              ),
              replaced_by: { from: null, to: made.id },
            };
            return describe('key.rotate', id, changes, listInstancesOfPolicyText(made.policy));
          },
        );
        if (rotated === 'conflict' && tag !== undefined)
          throw createStaleError((await find(id)).version, tag);
        return rotated;
      });
      if (typeof fresh === 'object' && 'record' in fresh) return { ...show(fresh.record), key: fresh.key };
      const successor = fresh === 'missing' ? null : await keys.find(fresh.successorId);
      throw explainNotRotated(show(await find(id)), fresh === 'missing' ? null : { id: successor?.id });
    },

    explainCall: async (id, input) => explain(await find(id), input),
  };
}

/** `successor`: the key that replaces it, without an id if its reader may not see it; null: the key does not work. */
function explainNotRotated(key: KeyView, successor: { id: string | undefined } | null): AdminError {
  return createAdminError(
    409,
    successor === null
      ? `The key is ${key.state}: create a new one instead.`
      : `${successor.id === undefined ? 'Another key' : `The key ${successor.id}`} has taken over from it already: a key is rotated once while its successor works. Rotate that one; where its text was lost, revoke it, then rotate this one again.`,
  );
}

/** The given members, checked, in the form in which they are shown. */
function readGiven(input: KeyChanges): KeyChanges {
  const invalid: InvalidMember[] = [];
  const given = { ...input };
  if (given.policy != null) {
    const parsed = parsePolicy(given.policy);
    if ('policy' in parsed) given.policy = parsed.policy;
    else invalid.push(...parsed.errors.map(toMemberOfKey));
  }
  if (given.expires_at != null) {
    const time = readTime(given.expires_at);
    if (typeof time === 'number') given.expires_at = showTime(time);
    else invalid.push({ path: 'expires_at', message: time.error });
  }
  if (invalid.length > 0) throw createInputError(invalid);
  return given;
}

/** The text of a publishable key is public, so a change of its policy must not make it an ordinary key. */
function refuseLoss(before: KeyView['policy'], after: KeyChanges['policy']): void {
  if (after === undefined || (before !== null && 'unreadable' in before)) return;
  if (losesPublishable(before, after)) throw createInputError([{ path: 'policy', message: LOSS_MESSAGE }]);
}

const PERSON_CHANGED = createInputError([
  { path: 'for', message: 'never changes: create a key for the other person, and revoke this one' },
]);

function checkPerson(person: string | null | undefined, issuers: readonly string[]): void {
  if (person == null) return;
  const refuse = (message: string) => createInputError([{ path: 'for', message }]);
  if (!PERSON_ID.test(person)) {
    throw refuse('must be <issuer>/<subject>, as the log and the audit show it, such as corp/3f6c');
  }
  // Nobody of a misspelt provider can connect.
  if (issuers.includes(readIssuer(person))) return;
  const known = issuers.length === 0 ? 'there is none' : `there is ${issuers.join(', ')}`;
  throw refuse(`must begin with the name of a provider of \`auth.issuers\` or \`operators\`; ${known}`);
}

/** Converts the path of an error in a policy to its path in the input. */
export function toMemberOfKey({ path, message }: InvalidMember): InvalidMember {
  return { path: path === '' ? 'policy' : `policy.${path}`, message };
}

function toKeyChange({ expires_at, ...members }: Omit<KeyChanges, 'for'>): KeyChange {
  return { ...members, expiresAt: expires_at == null ? expires_at : Date.parse(expires_at) };
}
