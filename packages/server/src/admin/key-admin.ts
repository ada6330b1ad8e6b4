/** What an administrator can do with client keys. */
import type { KeyChanges } from '@erp-proxy/contract';
import { z } from 'zod';
import type { KeyChange } from '../keys/keys.ts';
import { parsePolicy } from '../policy/parse.ts';
import type { KeyRecord } from '../stores/ports.ts';
import { type Changes, compareMembers, type RecordAct } from './acts.ts';
import type { Admin, AdminDeps } from './admin.ts';
import { AdminError, describeProblem, type Fault, refuse, refuseFaults } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { readPage } from './page.ts';
import { readTime, showTime } from './time.ts';
import { showKey } from './views.ts';

type KeyAdmin = Pick<
  Admin,
  'listKeys' | 'createKey' | 'getKey' | 'updateKey' | 'revokeKey' | 'rotateKey' | 'explain'
>;

/** By age, as the store lists them. */
const PLACE = z.tuple([z.int(), z.string().regex(/^\w+$/)]);
const OVERLAP_SECONDS_MAX = 30 * 86_400;

export function createKeyAdmin({ keys, explain, clock }: AdminDeps, recordAct: RecordAct): KeyAdmin {
  const show = (key: KeyRecord) => showKey(key, clock());
  const record = (action: string, id: string, changes: Changes) => recordAct(action, `key ${id}`, changes);

  async function find(id: string): Promise<KeyRecord> {
    const key = await keys.find(id);
    if (key === null) throw refuse(404, `There is no key ${JSON.stringify(id)}.`);
    return key;
  }

  function compare(key: KeyRecord, given: KeyChanges): Changes {
    const { name, policy, expires_at } = show(key);
    const members = { name, policy, expires_at };
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
      });
    },

    async createKey(input) {
      const given = readGiven(input);
      const { key, record: made } = await keys.create({ ...toKeyChange(given), name: input.name });
      try {
        await record('key.create', made.id, compareMembers({}, given));
      } catch (cause) {
        // Nobody has its text, and nobody would know of it.
        await keys.revoke(made.id);
        const detail = 'The key could not be accounted for in the audit, and was revoked: try again later.';
        throw new AdminError(describeProblem(503, detail), { cause });
      }
      return { ...show(made), key };
    },

    getKey: async (id) => show(await find(id)),

    async updateKey(id, changes, version) {
      const given = readGiven(changes);
      const before = await changeRow(
        () => find(id),
        version,
        async (key) => {
          // What is as it was is not judged anew: a key that expired may still get another name.
          const changed = Object.keys(compare(key, given));
          if (changed.length === 0) return 'done';
          return keys.update(id, key.version, toKeyChange(pickMembers(given, changed)));
        },
      );
      const made = compare(before, given);
      if (Object.keys(made).length > 0) await record('key.update', id, made);
      return show(await find(id));
    },

    async revokeKey(id) {
      const before = await find(id);
      if (before.revokedAt !== null) return show(before);
      await keys.revoke(id);
      const after = await find(id);
      await record('key.revoke', id, { state: { from: show(before).state, to: show(after).state } });
      return show(after);
    },

    async rotateKey(id, { overlap_seconds: seconds }) {
      if (!(Number.isInteger(seconds) && seconds >= 0 && seconds <= OVERLAP_SECONDS_MAX)) {
        throw refuse(400, `overlap_seconds is a whole number from 0 to ${OVERLAP_SECONDS_MAX} (30 days).`);
      }
      const before = await find(id);
      const fresh = await keys.rotate(id, { overlapMs: seconds * 1000 });
      if (fresh === 'missing')
        throw refuse(409, `The key is ${show(before).state}: create a new one instead.`);
      if (fresh === 'conflict')
        throw refuse(409, 'The key was changed at the same time: read it again, then rotate that.');
      const { expires_at } = show(await find(id));
      await record('key.rotate', id, {
        ...compareMembers({ expires_at: show(before).expires_at }, { expires_at }),
        replaced_by: { from: null, to: fresh.record.id },
      });
      return { ...show(fresh.record), key: fresh.key };
    },

    explain: async (id, input) => explain(await find(id), input),
  };
}

/** What is given, checked, and in the form of views. */
function readGiven({ name, policy, expires_at }: KeyChanges): KeyChanges {
  const faults: Fault[] = [];
  const given: KeyChanges = {};
  if (name !== undefined) given.name = name;
  if (policy === null) given.policy = null;
  else if (policy !== undefined) {
    const parsed = parsePolicy(policy);
    if ('policy' in parsed) given.policy = parsed.policy;
    else faults.push(...parsed.faults.map(nameMember));
  }
  if (expires_at === null) given.expires_at = null;
  else if (expires_at !== undefined) {
    const time = readTime(expires_at);
    if (typeof time === 'number') given.expires_at = showTime(time);
    else faults.push({ path: 'expires_at', message: time.fault });
  }
  if (faults.length > 0) throw refuseFaults(faults);
  return given;
}

function nameMember({ path, message }: Fault): Fault {
  return { path: path === '' ? 'policy' : `policy.${path}`, message };
}

function toKeyChange({ name, policy, expires_at }: KeyChanges): KeyChange {
  return { name, policy, expiresAt: expires_at == null ? expires_at : Date.parse(expires_at) };
}

function pickMembers(given: KeyChanges, names: readonly string[]): KeyChanges {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
}
