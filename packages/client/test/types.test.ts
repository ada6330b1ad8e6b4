/** Tests of types. The compiler checks this file; running it only proves that it is found. */
import { expectTypeOf, test } from 'vitest';
import type { BusinessErrorType, ProxyErrorType } from '../../contract/src/index.ts';
import { MOMENT_MS } from '../../server/test/time.ts';
import {
  type Create,
  createClient,
  type DateText,
  type Domain,
  type ErrorType,
  type Json,
  type MethodName,
  type Methods,
  type Read,
  type TimeText,
  type Update,
  type WebhookEvent,
} from '../src/index.ts';
import type { Models } from './models.fixture.ts';

const options = { url: 'http://127.0.0.1:1', key: 'ep_x', instance: 'prod', retries: 0 };
const client = createClient<Models>(options);
const partners = client.model('res.partner');
const untyped = createClient(options).model('res.partner');

const PARTNER = 'res.partner';
type Name = typeof PARTNER;
type Values<Method extends (...args: never[]) => Promise<unknown>> = Awaited<ReturnType<Method>>;

test('reads return exactly the fields that were asked for, and the id', () => {
  const read = () => partners.read([1], { fields: ['name', 'country_id'] });
  expectTypeOf<Values<typeof read>>().toEqualTypeOf<
    { id: number; name: string; country_id: [id: number, name: string | false] | false }[]
  >();
  const one = () => partners.one(1, { fields: ['type'] });
  expectTypeOf<Values<typeof one>>().toEqualTypeOf<{
    id: number;
    type: 'contact' | 'invoice' | 'delivery' | 'other' | false;
  } | null>();
  const all = () => partners.searchRead([], { order: 'name desc' });
  expectTypeOf<Values<typeof all>>().toEqualTypeOf<Read<Models, Name>[]>();
  const fields: ('name' | 'email')[] = [];
  const some = () => partners.searchRead([], { fields });
  expectTypeOf<Values<typeof some>[number]['name']>().toEqualTypeOf<string | undefined>();
  const pages = () => partners.paginate([], { fields: ['email'] }).toArray();
  expectTypeOf<Values<typeof pages>>().toEqualTypeOf<{ id: number; email: string | false }[]>();
});

test('values have the types that Odoo returns', () => {
  expectTypeOf<Read<Models, Name>>().toEqualTypeOf<{
    id: number;
    active: boolean;
    child_ids: number[];
    category_id: number[];
    color: number;
    comment: string | false;
    country_id: [id: number, name: string | false] | false;
    create_date: TimeText | false;
    credit_limit: number;
    email: string | false;
    image_1920: string | false;
    name: string;
    parent_id: [id: number, name: string | false] | false;
    ref: string | false;
    type: 'contact' | 'invoice' | 'delivery' | 'other' | false;
    user_id: [id: number, name: string | false] | false;
  }>();
  expectTypeOf<Read<Models, 'sale.order'>['partner_id']>().toEqualTypeOf<
    [id: number, name: string | false]
  >();
});

test('what cannot be written is no member of the values', () => {
  expectTypeOf<keyof Create<Models, 'sale.order'>>().toEqualTypeOf<'name' | 'partner_id'>();
  expectTypeOf<Update<Models, Name>['name']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Update<Models, Name>['country_id']>().toEqualTypeOf<number | false | null | undefined>();
});

test('required fields without a default are required in new records, not in changes', () => {
  expectTypeOf<{ partner_id: number }>().toExtend<Create<Models, 'sale.order'>>();
  expectTypeOf<{ name: string }>().not.toExtend<Create<Models, 'sale.order'>>();
  expectTypeOf<{ name: string }>().toExtend<Update<Models, 'sale.order'>>();
});

interface Notes {
  note: {
    id: { type: 'integer'; readonly: true };
    about: { type: 'reference'; values: 'res.partner' | 'sale.order' };
    at: { type: 'datetime'; required: true };
    data: { type: 'json' };
    kind: { type: 'selection'; values: 'a' | 'b' };
    tag_ids: { type: 'many2many'; relation: 'note' };
    user_id: { type: 'many2one'; relation: 'res.users'; required: true; noDefault: true };
  };
}

test('both forms of values have types', () => {
  expectTypeOf<Read<Notes, 'note'>>().toEqualTypeOf<{
    id: number;
    about: `res.partner,${number}` | `sale.order,${number}` | false;
    at: TimeText;
    data: Json;
    kind: 'a' | 'b' | false;
    tag_ids: number[];
    user_id: [id: number, name: string | false];
  }>();
  expectTypeOf<Read<Notes, 'note', 'normalized'>>().toEqualTypeOf<{
    id: number;
    about: { model: 'res.partner' | 'sale.order'; id: number } | null;
    at: TimeText<'normalized'>;
    data: Json;
    kind: 'a' | 'b' | null;
    tag_ids: number[];
    user_id: { id: number; name: string | null };
  }>();
  // A value that was read can be written.
  expectTypeOf<Read<Notes, 'note', 'normalized'>['about']>().toExtend<
    Update<Notes, 'note', 'normalized'>['about']
  >();
  expectTypeOf<Read<Notes, 'note', 'normalized'>['user_id']>().toExtend<
    Create<Notes, 'note', 'normalized'>['user_id']
  >();
});

test('dates and times are texts of their form, or of any zone where they are normalized', () => {
  type Days = { day: { id: { type: 'integer' }; day: { type: 'date' }; at: { type: 'datetime' } } };
  expectTypeOf<Read<Days, 'day'>['day']>().toEqualTypeOf<DateText | false>();
  expectTypeOf<Read<Days, 'day'>['at']>().toEqualTypeOf<TimeText | false>();
  type Plain = Update<Days, 'day'>;
  type Normalized = Update<Days, 'day', 'normalized'>;
  expectTypeOf<{ day: '2026-01-31'; at: '2026-01-31 08:05:00' }>().toExtend<Plain>();
  expectTypeOf<{ at: '2026-01-31T08:05:00Z' }>().not.toExtend<Plain>();
  expectTypeOf<{ day: 'yesterday' }>().not.toExtend<Plain>();
  expectTypeOf<{ at: '2026-01-31T08:05:00Z' }>().toExtend<Normalized>();
  expectTypeOf<{ at: '2026-01-31T08:05+02:00' }>().toExtend<Normalized>();
  expectTypeOf<{ at: Date }>().toExtend<Normalized>();
  expectTypeOf<{ at: '2026-01-31T08:05:00' }>().not.toExtend<Normalized>();
  expectTypeOf<{ at: string }>().not.toExtend<Normalized>();
});

test('a relation whose ids are texts has texts as ids', () => {
  type Accounts = { account: { root_id: { type: 'many2one'; relation: 'account.root'; ids: 'text' } } };
  expectTypeOf<Read<Accounts, 'account'>['root_id']>().toEqualTypeOf<
    [id: string, name: string | false] | false
  >();
  // The proxy does not normalize these pairs.
  expectTypeOf<Read<Accounts, 'account', 'normalized'>['root_id']>().toEqualTypeOf<
    [id: string, name: string | false] | null
  >();
  expectTypeOf<{ root_id: '60' }>().toExtend<Update<Accounts, 'account'>>();
  expectTypeOf<{ root_id: number }>().not.toExtend<Update<Accounts, 'account'>>();
});

test('the known methods of a model are suggestions, and no fields', () => {
  interface Note extends Methods<'action_done' | 'action_open'> {
    id: { type: 'integer'; readonly: true };
    name: { type: 'char' };
  }
  type Known = { note: Note; other: { id: { type: 'integer' } } };
  expectTypeOf<MethodName<Known, 'note'>>().toEqualTypeOf<'action_done' | 'action_open' | (string & {})>();
  expectTypeOf<MethodName<Known, 'other'>>().toEqualTypeOf<string>();
  expectTypeOf<Read<Known, 'note'>>().toEqualTypeOf<{ id: number; name: string | false }>();
  expectTypeOf<Update<Known, 'note'>>().toEqualTypeOf<{ name?: string | false | null | undefined }>();
  const notes = createClient<Known>(options).model('note');
  const check = async () => {
    await notes.call('action_done', [[1]]);
    await notes.call('another', [[1]]);
    await notes.searchRead([['name', '=', 'x']], { fields: ['name'], order: 'name' });
  };
  expectTypeOf(check).returns.resolves.toBeVoid();
});

test('files are in binary fields, and rows of upsert have the fields of their key', () => {
  const file = new Blob([]);
  const check = async () => {
    await partners.download(1, 'image_1920');
    await partners.upload('image_1920', file, { id: 1 });
    await untyped.upload('anything', file, { id: 1 });
    // @ts-expect-error: a name is no file
    await partners.download(1, 'name');
    // @ts-expect-error: a name is no file
    await partners.upload('name', file, { id: 1 });
    // @ts-expect-error: the row cannot be found without its key
    await partners.upsert('ref', [{ name: 'x' }]);
    // @ts-expect-error: each field of the key is needed
    await partners.upsert(['ref', 'type'], [{ ref: 'x', type: undefined }]);
    await untyped.upsert('ref', [{ ref: 'x' }]);
  };
  expectTypeOf(check).returns.resolves.toBeVoid();
});

test('a client of normalized values reads and writes them', () => {
  const normalized = createClient<Models>({ ...options, values: 'normalized' });
  const contacts = normalized.model(PARTNER);
  const read = () => contacts.read([1], { fields: ['name', 'country_id'] });
  expectTypeOf<Values<typeof read>>().toEqualTypeOf<
    { id: number; name: string; country_id: { id: number; name: string | null } | null }[]
  >();
  const pages = () =>
    normalized
      .withContext({})
      .model(PARTNER)
      .paginate([], { fields: ['email'] })
      .toArray();
  expectTypeOf<Values<typeof pages>>().toEqualTypeOf<{ id: number; email: string | null }[]>();
  const check = async () => {
    await contacts.create({
      name: 'x',
      country_id: { id: 20, name: 'Belgium' },
      parent_id: null,
      child_ids: { create: [{ name: 'y', country_id: 20 }], add: [4], update: [{ id: 5, ref: null }] },
      category_id: [[6, 0, [1]]],
    });
    await contacts.upsert('country_id', [{ name: 'x', country_id: 20 }]);
  };
  expectTypeOf(check).returns.resolves.toBeVoid();
  expectTypeOf(createClient<Models>({ ...options, values: 'odoo' })).toEqualTypeOf(client);
  const anything = createClient({ ...options, values: 'normalized' }).model('res.partner');
  const row = () => anything.one(1, { fields: ['name'] });
  // biome-ignore lint/suspicious/noExplicitAny: this is what is tested
  expectTypeOf<Values<typeof row>>().toEqualTypeOf<{ id: number; name: any } | null>();
});

test('right calls are accepted', () => {
  const check = async () => {
    await partners.count();
    await partners.count(['|', ['name', 'ilike', 'x'], '!', ['parent_id.country_id.code', 'in', ['BE']]]);
    await partners.count([
      ['id', 'child_of', 4],
      ['create_date.year_number', '=', 2026],
      ['user_id.login', '=', 'x'],
    ]);
    await partners.count([['country_id', 'any', [['code', '=', 'BE']]]]);
    await partners.search(
      [
        ['country_id', 'ilike', 'belg'],
        ['country_id', '=', false],
      ],
      { order: 'name, id desc' },
    );
    const domain: Domain<Models, Name> = [['name', '=', 'x']];
    await partners.searchRead(domain, { order: String('computed at run time') });
    const ids: number[] = [];
    const condition = ['id', 'in', ids] as const;
    await partners.searchRead([...(ids.length > 0 ? [condition] : []), ['active', '=', true]]);
    await partners.create({
      name: 'x',
      child_ids: [
        [0, 0, { name: 'y', category_id: [[6, 0, ids]] }],
        [1, 4, { ref: false }],
        [2, 4],
        [3, 4, 0],
        [4, 4],
        [5],
      ],
      country_id: 20,
      email: undefined,
    });
    await partners.upsert(['ref', 'type'], [{ ref: 'x', type: 'contact' }]);
    await partners.call<number>('message_post', [[1]], { body: 'x' }, { timeout: MOMENT_MS });
  };
  expectTypeOf(check).returns.resolves.toBeVoid();
});

test('without models, every model and field exists', () => {
  const check = async () => {
    const rows = await untyped.searchRead([['a.b', '=', 5]], {
      fields: ['name', 'x_score'],
      order: 'x_score desc',
    });
    // biome-ignore lint/suspicious/noExplicitAny: this is what is tested
    expectTypeOf(rows).toEqualTypeOf<{ id: number; name: any; x_score: any }[]>();
    const [first] = await untyped.read([1]);
    expectTypeOf(first?.['anything']).toBeAny();
    await untyped.create({ a: 1, b_ids: [[0, 0, { c: 1 }]] });
    // @ts-expect-error: the operators are known
    await untyped.count([['a', '==', 5]]);
  };
  expectTypeOf(check).returns.resolves.toBeVoid();
});

test('the types of errors are those of the contract, and five of the client', () => {
  type Own = 'connection_failed' | 'client_timeout' | 'invalid_answer' | 'job_cancelled' | 'usage';
  expectTypeOf<ErrorType>().toEqualTypeOf<Own | ProxyErrorType | BusinessErrorType>();
});

test('the type of a webhook event tells the members of its data', () => {
  const describe = (event: WebhookEvent) => {
    if (event.type === 'ping') {
      if ('events' in event.data) expectTypeOf(event.data.events).toEqualTypeOf<readonly string[]>();
      else expectTypeOf(event.data.model).toEqualTypeOf<string>();
    } else if (event.type === 'key.ends') {
      expectTypeOf(event.data.id).toEqualTypeOf<string>();
      expectTypeOf(event.data.expired).toEqualTypeOf<boolean>();
    } else if (event.type === 'job.ended') {
      expectTypeOf(event.data.id).toEqualTypeOf<string>();
      expectTypeOf(event.data.client_id).toEqualTypeOf<string>();
    } else {
      expectTypeOf(event.data.id).toEqualTypeOf<number>();
      expectTypeOf(event.data.at).toEqualTypeOf<string | null>();
    }
  };
  expectTypeOf(describe).toBeFunction();
});
