/** Tests what subscriptions send: content, signatures, order. */
import { expect, test } from 'vitest';
import { pause, pauseAtRandom } from '../time.ts';
import { TAKE, watchOverlaps } from './receiver.ts';
import { startStage } from './stage.ts';

test('sends the changes of a model, signed as the official library verifies', async () => {
  const { subscribe, receiver, odoo, show } = await startStage();
  const id = await odoo('create', { name: 'Test one', email: 'one@example.com' });
  await subscribe();
  await expect.poll(() => receiver.received.length).toBe(1);
  const [first] = receiver.received;
  expect(first?.fault).toBeNull();
  expect(first?.path).toBe('/hook');
  expect(first?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': expect.stringMatching(/^msg_\w+$/),
  });
  expect(first?.json).toEqual({
    type: 'res.partner.upserted',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      subscription: 'contacts',
      instance: 'prod',
      model: 'res.partner',
      id,
      at: expect.any(String),
      record: { id, name: 'Test one', email: 'one@example.com' },
    },
  });
  await odoo('write', [id], { name: 'Test two' });
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received[1]?.json.data.record.name).toBe('Test two');
  await odoo('write', [id], { name: 'Other' });
  await expect.poll(() => receiver.list('res.partner.left').length).toBe(1);
  expect(receiver.list('res.partner.left')[0]?.json.data).not.toHaveProperty('record');
  expect(await show()).toMatchObject({ state: 'active', problem: null, receiver: { failures: 0 } });
});

test('begins now unless it is asked to begin with all records', async () => {
  const { subscribe, receiver, odoo, sandbox, show } = await startStage();
  const old = await odoo('create', { name: 'Test old' });
  const open = sandbox.begin();
  const late = open.create('res.partner', { name: 'Test late' });
  await subscribe({ start: 'now' });
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  const fresh = await odoo('create', { name: 'Test new' });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.json.data.id).toBe(fresh);
  await odoo('write', [old], { email: 'x@example.com' });
  await expect.poll(() => receiver.received.at(-1)?.json.data.id).toBe(old);
  // The transaction was open when the subscription began, so its record is sent when it commits.
  open.commit();
  await expect.poll(() => receiver.received.at(-1)?.json.data.id).toBe(late);
  expect(receiver.received).toHaveLength(3);
});

test.each([true, false])(
  'tells only of records that were sent that they have left; gone: %s',
  async (gone) => {
    const { subscribe, receiver, odoo, show } = await startStage();
    const sent = await odoo('create', { name: 'Test sent' });
    await subscribe({ gone });
    await expect.poll(() => receiver.received.length).toBe(1);
    const other = await odoo('create', { name: 'Other' });
    await odoo('write', [other], { email: 'other@example.com' });
    const { read_at } = await show();
    await expect.poll(async () => (await show()).read_at).not.toBe(read_at);
    await odoo('write', [sent], { name: 'Left' });
    await expect.poll(() => receiver.list('res.partner.left').length).toBe(1);
    expect(receiver.list('res.partner.left')[0]?.json.data.id).toBe(sent);
    // The record matches again, and leaves once more.
    await odoo('write', [sent], { name: 'Test back' });
    await expect.poll(() => receiver.list('res.partner.upserted').length).toBe(2);
    await odoo('write', [sent, other], { name: 'Left again' });
    await expect.poll(() => receiver.list('res.partner.left').length).toBe(2);
    const last = await odoo('create', { name: 'Test last' });
    await expect.poll(() => receiver.received.at(-1)?.json.data.id).toBe(last);
    expect(receiver.received.filter(({ json }) => json.data.id === other)).toEqual([]);
  },
);

test('a thin payload has no values', async () => {
  const { subscribe, receiver, odoo } = await startStage();
  await odoo('create', { name: 'Test one' });
  await subscribe({ payload: 'thin' });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.json.data).not.toHaveProperty('record');
});

test('values keep the bytes that Odoo sent', async () => {
  const { subscribe, receiver, odoo } = await startStage();
  await odoo('create', { name: 'Test "é" 🙂\u2028', partner_latitude: 1 });
  await subscribe({ fields: ['name', 'partner_latitude'] });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.fault).toBeNull();
  expect(receiver.received[0]?.json.data.record).toMatchObject({ name: 'Test "é" 🙂\u2028' });
  expect(receiver.received[0]?.body).toContain('"partner_latitude": 1.0');
});

test('sends records that vanish, if it is asked to', async () => {
  const { subscribe, receiver, odoo } = await startStage();
  const ids = [await odoo('create', { name: 'Test a' }), await odoo('create', { name: 'Test b' })];
  await subscribe({ gone: true });
  await expect.poll(() => receiver.received.length).toBe(2);
  await odoo('unlink', [ids[0]]);
  await expect.poll(() => receiver.list('res.partner.gone').length).toBe(1);
  expect(receiver.list('res.partner.gone')[0]?.json.data).toEqual({
    subscription: 'contacts',
    instance: 'prod',
    model: 'res.partner',
    id: ids[0],
    at: null,
  });
});

test('a subscription that begins now watches the records that there are for their end, too', async () => {
  const { subscribe, receiver, odoo, show } = await startStage();
  const old = await odoo('create', { name: 'Test old' });
  await odoo('create', { name: 'Other' });
  await subscribe({ gone: true, start: 'now' });
  await expect.poll(async () => (await show()).read_at).not.toBeNull();
  const fresh = await odoo('create', { name: 'Test new' });
  await expect.poll(() => receiver.received.length).toBe(1);
  await odoo('unlink', [old, fresh]);
  await expect.poll(() => receiver.list('res.partner.gone').length).toBe(2);
  expect(
    receiver
      .list('res.partner.gone')
      .map(({ json }) => json.data.id)
      .toSorted(),
  ).toEqual([old, fresh].toSorted());
  expect(receiver.list('res.partner.upserted')).toHaveLength(1);
});

test('two secrets sign during a rotation, and one after it', async () => {
  const { subscribe, receiver, odoo, admin } = await startStage();
  await subscribe();
  const rotated = await admin.rotateSecret('contacts', { overlap_seconds: 3600 });
  receiver.secrets.push(rotated.secret);
  expect(rotated.secrets).toHaveLength(2);
  const [first, second] = receiver.secrets;
  expect(first).not.toBe(second);
  await odoo('create', { name: 'Test one' });
  await expect.poll(() => receiver.received.length).toBe(1);
  expect(receiver.received[0]?.fault).toBeNull();
  const again = await admin.rotateSecret('contacts', { overlap_seconds: 0 });
  receiver.secrets.splice(0, 2, again.secret);
  expect(again.secrets).toHaveLength(1);
  await odoo('create', { name: 'Test two' });
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(receiver.received[1]?.fault).toBeNull();
  expect(String(receiver.received[1]?.headers['webhook-signature']).split(' ')).toHaveLength(1);
});

test('the versions of one record arrive in order, one at a time, whatever the receiver answers', async () => {
  const { subscribe, receiver, odoo, admin } = await startStage();
  const ids: unknown[] = [];
  for (const name of ['a', 'b', 'c']) ids.push(await odoo('create', { name: `Test ${name} 0` }));
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const overlaps: string[] = [];
  receiver.answer = watchOverlaps(overlaps, async (response) => {
    await pauseAtRandom(random);
    response.writeHead(random() < 0.3 ? 500 : 204).end();
  });
  await subscribe();
  for (let version = 1; version <= 15; version++) {
    for (const id of ids) await odoo('write', [id], { name: `Test ${id} ${version}` });
    await pause();
  }
  receiver.answer = TAKE;
  const versionOf = (name: string) => Number(name.split(' ').at(-1));
  const last = () =>
    ids.map((id) => receiver.received.findLast(({ json }) => json.data.id === id)?.json.data.record.name);
  await expect
    .poll(async () => {
      await admin.pingSubscription('contacts');
      return last();
    })
    .toEqual(ids.map((id) => `Test ${id} 15`));
  expect(overlaps).toEqual([]);
  for (const id of ids) {
    const versions = receiver.received
      .filter(({ json }) => json.data.id === id)
      .map(({ json }) => versionOf(json.data.record.name));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  }
});
