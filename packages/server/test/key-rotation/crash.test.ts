/** A process that dies at any point of a rotation leaves a stored key that works, and the next process ends what it began. */
import { afterEach, expect, test } from 'vitest';
import type { Instances } from '../../src/instances/instances.ts';
import { type CareParts, HOUR_MS, openStage, PAUSE_MS, REFUSED, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

/** Names of the moments at which the process may die, up to the one where it does. */
interface Life {
  parts: CareParts;
  moments: string[];
  isDead: boolean;
}

/** A process that dies at its nth moment: from then on nothing that it does has any effect. */
function live(dieAt: number): Life {
  const life: Life = {
    moments: [],
    isDead: false,
    parts: {
      ask: (record, key, question) => around(question.method, () => stage.ask(record, key, question)),
      instances: {
        ...stage.instances,
        openKey: (name) => around('openKey', async () => stage.instances.openKey(name)),
        changeKey: (name, version, change) =>
          around(`write ${change.pending?.step ?? 'other'}`, () =>
            stage.instances.changeKey(name, version, change),
          ),
      } satisfies Instances,
      leases: {
        acquire: (...lease) => around('acquire', async () => stage.leases.acquire(...lease)),
        release: (...lease) => around('release', async () => stage.leases.release(...lease)),
      },
      owner: 'one',
    },
  };
  const pass = (moment: string) => {
    if (!life.isDead) life.isDead = life.moments.push(moment) > dieAt;
    if (life.isDead) throw new Error('killed');
  };
  async function around<T>(name: string, work: () => Promise<T>): Promise<T> {
    pass(`before ${name}`);
    const result = await work();
    pass(`after ${name}`);
    return result;
  }
  return life;
}

/** From learning the key's end to the end of the old key. */
async function rotateWhole(life: Life): Promise<void> {
  const care = stage.openCare(life.parts);
  await care.look();
  stage.advance(PAUSE_MS);
  await care.look();
}

/** Long enough for everything that waits. */
async function letNextProcessFinish(): Promise<void> {
  const care = stage.openCare();
  for (let look = 0; look < 4; look++) {
    await care.look();
    expect(await stage.callWithStoredKey()).toMatchObject({ kind: 'result' });
    stage.advance(2 * HOUR_MS);
  }
}

test.each(['jsonrpc', 'json2'] as const)(
  'over %s, wherever it dies the stored key works, and in the end one key of ours is left',
  async (protocol) => {
    const died: string[] = [];
    for (let dieAt = 0; ; dieAt++) {
      stage = await openStage({ protocol });
      const life = live(dieAt);
      await rotateWhole(life);
      if (!life.isDead) break;
      const where = life.moments.at(-1) ?? '';
      died.push(where);
      expect(await stage.callWithStoredKey(), where).toMatchObject({ kind: 'result' });

      await letNextProcessFinish();
      expect(await stage.storedKey(), where).not.toBe(stage.user.apiKey);
      expect(await stage.callWith(stage.user.apiKey), where).toEqual(REFUSED);
      expect((await stage.instances.get('prod'))?.key, where).toMatchObject({
        pendingStep: null,
        failure: null,
        isExpiryKnown: true,
      });
      // What Odoo has made and nobody has kept cannot be told from what never was: it ends by itself.
      const lost = ['after generate', 'before write proving'].includes(where) ? 1 : 0;
      expect((await stage.listKeys()).all, where).toHaveLength(1 + lost);
      await stage.close();
    }
    expect(died).toEqual(
      expect.arrayContaining(
        ['generate', 'write proving', 'context_get', 'write revoking', 'revoke', 'write other'].flatMap(
          (name) => [`before ${name}`, `after ${name}`],
        ),
      ),
    );
  },
  60_000,
);
