import { describe, expect, test } from 'vitest';
import { demo, openEnvironment } from '../../test/open-environment.ts';

test.each(['sale.order', 'res.partner', 'crm.lead'])('%s has its messages, with their date', (model) => {
  const { environment, call, readOne } = openEnvironment();
  call('product.template', 'message_post', [[1]], { body: 'Of another model.' });
  const id: number = call(model, 'message_post', [[1]], { body: 'Called.', message_type: 'comment' });
  expect(readOne(model, 1, ['message_ids'])['message_ids']).toEqual([id]);
  expect(readOne('mail.message', id, ['date', 'body', 'message_type', 'author_id'])).toEqual({
    id,
    date: environment.now,
    body: '<p>Called.</p>',
    message_type: 'comment',
    author_id: [3, 'YourCompany, Mitchell Admin'],
  });
});

test.each([
  [16, '<p>Hoi <b>x</b></p>', {}, '<p>Hoi <b>x</b></p>'],
  [18, '<p>Hoi</p>', {}, '<p>&lt;p&gt;Hoi&lt;/p&gt;</p>'],
  [18, '<p>Hoi</p>', { body_is_html: true }, '<p>Hoi</p>'],
  [19, 'a & b', {}, '<p>a &amp; b</p>'],
] as const)('%i posts %j %j as %j', (version, body, named, posted) => {
  const { call, readOne } = openEnvironment(version);
  const [id = 0] = [call('sale.order', 'message_post', [[1]], { body, ...named })].flat() as number[];
  expect(readOne('mail.message', id, ['body', 'email_from'])).toEqual({
    id,
    body: posted,
    email_from: expect.stringMatching(/^"[\w, ]+" <[\w.]+@[\w.]+>$/),
  });
});

test('a message has the author of the call', () => {
  const { call, readOne } = openEnvironment();
  const id: number = call('sale.order', 'message_post', [[1]], { body: 'x', author_id: 10 });
  expect(readOne('mail.message', id, ['author_id'])['author_id']).toEqual([10, 'Deco Addict']);
});

test('from 17 on, a message takes no unknown argument', () => {
  const post = (version: 16 | 18) =>
    openEnvironment(version).call('sale.order', 'message_post', [[1]], { body: 'x', nope: 1 });
  expect(() => post(18)).toThrow('Those values are not supported when posting or notifying: nope');
  expect(post(16)).toEqual(expect.any(Number));
});

test('users read the messages of models that they may read', () => {
  const { environment, call, search } = openEnvironment();
  const id: number = call('sale.order', 'message_post', [[1]], { body: 'Secret.' });
  expect(search('mail.message', [])).toEqual([id]);
  const { call: callDemo } = openEnvironment(18, { uid: demo, store: environment.store });
  expect(callDemo('mail.message', 'search', [[]])).toEqual([]);
});

describe('activities', () => {
  test('are due today unless they say so, and name their record', () => {
    const { environment, call, readOne } = openEnvironment();
    const values = { res_model: 'res.partner', res_id: 10, activity_type_id: 2, summary: 'Ask for the size' };
    const id: number = call('mail.activity', 'create', [values]);
    expect(readOne('res.partner', 10, ['activity_ids'])['activity_ids']).toEqual([id]);
    expect(
      readOne('mail.activity', id, ['res_model_id', 'res_name', 'date_deadline', 'state', 'user_id']),
    ).toEqual({
      id,
      res_model_id: [expect.any(Number), 'Contact'],
      res_name: 'Deco Addict',
      date_deadline: environment.now.slice(0, 10),
      state: 'today',
      user_id: [2, 'Mitchell Admin'],
    });
    call('mail.activity', 'write', [[id], { date_deadline: '2020-01-01' }]);
    expect(readOne('mail.activity', id, ['state'])['state']).toBe('overdue');
  });

  test('become a message once they are done', () => {
    const { call, search, readOne } = openEnvironment(19);
    const [id] = call('sale.order', 'activity_schedule', [[1], 'mail.mail_activity_data_call'], {
      summary: 'Ask',
    }) as number[];
    expect(readOne('mail.activity', id!, ['activity_type_id'])['activity_type_id']).toEqual([2, 'Call']);
    const message: number = call('mail.activity', 'action_feedback', [[id!]], { feedback: 'They agree.' });
    expect(search('mail.activity', [])).toEqual([]);
    expect(readOne('mail.message', message, ['body', 'model', 'res_id'])).toMatchObject({
      body: '<p>Call: Ask done</p><p>They agree.</p>',
      model: 'sale.order',
      res_id: 1,
    });
  });

  test('are deleted with their record, as its messages are', () => {
    const { call, search } = openEnvironment();
    call('sale.order', 'activity_schedule', [[1]]);
    call('sale.order', 'message_post', [[1]], { body: 'x' });
    call('sale.order', 'unlink', [[1]]);
    expect([search('mail.activity', []), search('mail.message', [])]).toEqual([[], []]);
  });
});
