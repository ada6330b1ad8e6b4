import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCases } from '../../server/test/random-cases.ts';
import { expectCpuBelow } from '../../server/test/time.ts';
import { createEditDistance } from './edit-distance.ts';
import { findNearestName, findNearestNames, findNearestOfMany } from './nearest.ts';

const MEMBERS = ['id', 'action', 'model_id', 'fn_name', 'params', 'keyword', 'erp_instance'] as const;

describe('the nearest name of a short list', () => {
  test.each([
    ['keywrod', 'keyword'],
    ['keywords', 'keyword'],
    ['Params', 'params'],
    ['modelid', 'model_id'],
    ['model', 'model_id'],
    ['erpInstance', 'erp_instance'],
    ['fnname', 'fn_name'],
    ['instance', 'erp_instance'],
    ['zzz', 'id'],
  ])('is for %s %s', (name, nearest) => {
    expect(findNearestName(name, MEMBERS)).toBe(nearest);
  });

  test('shares a word, or else has the fewest edits', () => {
    expect(findNearestName('PORT', ['otel.to', 'http.port'])).toBe('http.port');
    expect(findNearestName('zort', ['otel.to', 'http.port'])).toBe('otel.to');
  });

  test('has two letters swapped, which counts as one edit', () => {
    expect(findNearestName('ba', ['b-xa', 'ab', 'xx'])).toBe('ab');
    expect(findNearestName('prot', ['post12', 'port', 'pr'])).toBe('port');
  });

  test('is the first of equally similar ones', () => {
    expect(findNearestName('x', ['a', 'b'])).toBe('a');
  });

  test('is a known name for any name, and a known name itself', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uniqueArray(fc.string({ maxLength: 20 }), { minLength: 1 }),
        (name, known) => {
          expect(known).toContain(findNearestName(name, known));
          const lowered = known.map((each) => each.toLowerCase());
          if (new Set(lowered).size === known.length) {
            for (const each of known) expect(findNearestName(each, known)).toBe(each);
          }
        },
      ),
      { numRuns: countCases(200) },
    );
  });

  test('is found by the first letters of a name with 30 million', async () => {
    const find = (length: number) => {
      const name = Buffer.alloc(length, 'd').fill('keywor', 0, 6).toString();
      return () => expect(findNearestName(name, ['id', 'keyword'])).toBe('keyword');
    };
    await expectCpuBelow(10, find(30_000_000), find(1000));
  });
});

/** Fields of a contact in an Odoo without Invoicing and Sales. */
const CONTACT = [
  ...[
    'active',
    'category_id',
    'city',
    'color',
    'comment',
    'company_id',
    'create_uid',
    'email',
    'id',
    'is_company',
  ],
  ...[
    'meeting_count',
    'message_ids',
    'name',
    'phone',
    'signup_type',
    'street',
    'user_id',
    'user_ids',
    'website',
  ],
];
const PRODUCT = [
  'categ_id',
  'create_uid',
  'list_price',
  'name',
  'sale_ok',
  'taxes_id',
  'write_uid',
  'uom_id',
];
const MODELS = [
  ...['crm.lead', 'crm.stage', 'ir.model', 'ir.model.fields', 'mail.activity', 'res.country', 'res.lang'],
  ...['res.partner', 'res.partner.category', 'res.users', 'sale.order', 'sale.order.line', 'x_archive.y1'],
];

describe('near names', () => {
  test.each<[string, readonly string[], string[]]>([
    ['customer_rank', CONTACT, []],
    ['customer_rank', [...CONTACT, 'customer'], ['customer']],
    ['sale_order_count', CONTACT, []],
    ['mobile', CONTACT, []],
    ['phon', CONTACT, ['phone']],
    ['tags_id', CONTACT, []],
    ['user', CONTACT, ['user_id', 'user_ids']],
    ['parent_count', CONTACT, []],
    ['category_id', PRODUCT, ['categ_id']],
    ['categ', CONTACT, ['category_id']],
    ['tax_id', PRODUCT, []],
    ['sales_ok', PRODUCT, ['sale_ok']],
    ['price', PRODUCT, ['list_price']],
    [
      'date_invoice',
      ['invoice_date_due', 'date', 'invoice_date'],
      ['invoice_date', 'invoice_date_due', 'date'],
    ],
    ['delivery_state', ['delivery_status', 'state', 'amount'], ['delivery_status', 'state']],
    ['res.parnter', MODELS, ['res.partner']],
    ['account.move', MODELS, []],
    ['mail.activity.type', MODELS, ['mail.activity']],
    ['sale.orders', MODELS, ['sale.order', 'sale.order.line']],
    ['crm.opportunity', MODELS, ['crm.lead', 'crm.stage']],
    ['street_2', ['street', 'street2', 'street_12'], ['street2', 'street', 'street_12']],
    ['', CONTACT, []],
    ['id_', CONTACT, ['id']],
  ])('of %s', (name, known, nearest) => {
    expect(findNearestNames(name, known, 5)).toEqual(nearest);
  });

  test('are found by other texts that stand for them', () => {
    const labels: Record<string, string[]> = {
      partner_id: ['Customer'],
      user_id: ['Salesperson', 'Verkäufer'],
    };
    const listOtherTexts = (name: string) => labels[name] ?? [];
    const find = (name: string) =>
      findNearestNames(name, ['partner_id', 'user_id', 'x'], 5, { listOtherTexts });
    expect(find('customer_id')).toEqual(['partner_id']);
    expect(find('sales person')).toEqual(['user_id']);
    expect(find('verkäufer_id')).toEqual(['user_id']);
    expect(find('partner')).toEqual(['partner_id']);
  });

  test('come with the nearest first, and equally similar ones in their order', () => {
    const known = ['game', 'name_of_all', 'names', 'bmae', 'name', 'nmaw'];
    expect(findNearestNames('nmae', known, 3)).toEqual(['bmae', 'name', 'nmaw']);
    expect(findNearestNames('name', known, 9)).toEqual(['name', 'game', 'names', 'name_of_all']);
    expect(findNearestNames('nmae', [], 3)).toEqual([]);
  });

  test('are not very long', () => {
    expect(findNearestNames('name', ['name '.repeat(100), 'nmae'], 3)).toEqual(['nmae']);
  });

  test('are the first ones of all that are near and accepted', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_', 'B'), maxLength: 9 });
    fc.assert(
      fc.property(
        word,
        fc.uniqueArray(word, { maxLength: 30 }),
        fc.integer({ min: 1, max: 6 }),
        fc.func(fc.boolean()),
        (name, known, max, decide) => {
          const accepts = (candidate: string) => decide(candidate);
          const all = findNearestNames(name, known, known.length + 1);
          const accepted = all.filter(accepts);
          expect(findNearestNames(name, known, max, { accepts })).toEqual(accepted.slice(0, max));
        },
      ),
      { numRuns: countCases(1000) },
    );
  });

  test('without shared words are those within one edit for each three letters, sorted by edits', () => {
    // Words that share no prefix of four letters and 60 %, unless the number of edits is smaller, too.
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 5 });
    fc.assert(
      fc.property(word, fc.uniqueArray(word, { maxLength: 30 }), (name, known) => {
        const sorted = known
          .map((candidate) => ({ candidate, distance: measure(name, candidate) }))
          .filter(({ distance }) => distance <= 1)
          .sort((a, b) => a.distance - b.distance)
          .map(({ candidate }) => candidate);
        const found = findNearestNames(name, known, 30).filter((candidate) => measure(name, candidate) <= 1);
        expect(found).toEqual(sorted);
      }),
      { numRuns: countCases(1000) },
    );
  });

  test('are accepted only if they would be in the result', () => {
    const asked: string[] = [];
    const accepts = (candidate: string) => asked.push(candidate) > 0;
    const known = ['name', 'names', 'xxxxxxxx', 'full_name', 'x'];
    expect(findNearestNames('name', known, 2, { accepts })).toEqual(['name', 'names']);
    expect(asked).toEqual(['name', 'names']);
  });
});

describe('the nearest names of a long list', () => {
  test('are those of a comparison at once', async () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 3, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(word, fc.uniqueArray(word, { minLength: 90, maxLength: 320 }), async (name, known) => {
        expect(await findNearestOfMany(name, known, 5)).toEqual(findNearestNames(name, known, 5));
      }),
      { numRuns: countCases(50) },
    );
  });

  test('are found while other work gets its turns', async () => {
    const known = Array.from({ length: 2000 }, (_, index) => `name_${index}`);
    let turns = 0;
    const count = () => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    await findNearestOfMany('nmae', known, 5);
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(10);
  });
});

function measure(left: string, right: string): number {
  return createEditDistance(left)(right, Number.POSITIVE_INFINITY);
}
