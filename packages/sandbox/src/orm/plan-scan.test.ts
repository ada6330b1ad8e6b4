import { expect, test } from 'vitest';
import { openEnvironment } from '../../test/open-environment.ts';
import type { Json } from '../json/value.ts';
import { compileDomain } from './domain.ts';
import type { Row } from './row.ts';
import { allIds, keyTime } from './row-source.ts';

const seed = Number(process.env['SEED'] ?? Date.now() % 100_000);

for (const version of [18, 19] as const) {
  test(`${version}: searches by index find what a scan finds (SEED=${seed})`, () => {
    const { environment, search } = openEnvironment(version, { records: { 'res.partner': 500 } });
    const model = environment.model('res.partner');
    const { store } = environment;
    let state = seed;
    const random = (max: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * max);
    };
    const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
    const times = [...store.table('res.partner').scan(allIds)].map((row) => String(row['write_date']));
    const makeTime = () => pick(times).slice(0, pick([10, 19, 26]));
    for (let change = 0; change < 200; change++) {
      const id = 60 + random(520);
      const row = store.get('res.partner', id) ?? { id };
      const isGone = random(5) === 0;
      const write_date =
        random(20) === 0 ? null : `${makeTime().slice(0, 10)} 0${random(9)}:00:0${random(9)}.5`;
      store.put('res.partner', id, isGone ? undefined : { ...row, id, write_date });
    }
    const makeLeaf = (): Json =>
      pick<() => Json>([
        () => ['id', pick(['>', '>=', '<', '<=', '=', '!=']), random(600)],
        () => ['id', pick(['in', 'not in']), [random(600), random(600), 9]],
        () => ['write_date', pick(['>', '>=', '<', '<=', '=', '!=']), makeTime()],
        () => ['name', 'like', String(random(30))],
        () => ['write_date', '!=', false],
      ])();
    const makeDomain = (depth: number): Json[] => {
      const kind = depth > 0 ? random(4) : 0;
      if (kind === 1) return ['!', ...makeDomain(depth - 1)];
      if (kind >= 2) return [pick(['&', '|']), ...makeDomain(depth - 1), ...makeDomain(depth - 1)];
      return [makeLeaf()];
    };
    for (let run = 0; run < 150; run++) {
      const domain = [...makeDomain(3), ...(random(2) > 0 ? makeDomain(1) : [])];
      const holds = compileDomain(environment, model, domain);
      const rows = [...store.table('res.partner').scan(allIds)].filter(holds);
      const [order, compare] = pick<readonly [string, (a: Row, b: Row) => number]>([
        ['id', (a, b) => Number(a['id']) - Number(b['id'])],
        ['id desc', (a, b) => Number(b['id']) - Number(a['id'])],
        ['write_date, id', (a, b) => (keyTime(a) < keyTime(b) ? -1 : 1)],
        ['write_date desc, id desc', (a, b) => (keyTime(a) < keyTime(b) ? 1 : -1)],
      ]);
      const offset = random(3);
      const limit = pick([null, 1, 10, 500]);
      const ids = rows.sort(compare).map((row) => row['id']);
      const context = { active_test: false };
      expect(
        search('res.partner', domain, { order, offset, limit, context }),
        JSON.stringify({ domain, order, offset, limit }),
      ).toEqual(ids.slice(offset, limit === null ? undefined : offset + limit));
    }
  });
}
