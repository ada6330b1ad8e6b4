import type { InstanceRecord } from '@erp-proxy/control/instances';
import { expect, test } from 'vitest';
import { readFields } from '../fields.ts';
import { readDomain } from './domain-times.ts';

const MODEL = 'x.model';
const FIELDS = readFields({ name: { type: 'char' } });
const SESSION = { fields: async () => FIELDS, userContext: async () => ({}) };

test('many conditions are read in turns, so that other calls need not wait', async () => {
  const domain = Array.from({ length: 20_000 }, () => ['name', '=', '2026-05-01']);
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const { where } = await readDomain(SESSION, {} as InstanceRecord, MODEL, domain);
  clearImmediate(timer);
  expect(where).toEqual(domain);
  expect(turns).toBeGreaterThan(10);
});
