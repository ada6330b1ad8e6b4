/** Products, sales orders and the pipeline of the seed. */
import type { Seed } from './seedStore.ts';

const goods: readonly [string, number, number][] = [
  ['Hotel Accommodation', 400, 400],
  ['Virtual Interior Design', 30.75, 20.5],
  ['Virtual Home Staging', 38.25, 25.5],
  ['Office Chair', 70, 55],
  ['Office Lamp', 40, 35],
  ['Office Design Software', 280, 235],
  ['Desk Combination', 450, 300],
  ['Customizable Desk', 750, 500],
  ['Corner Desk Left Sit', 85, 78],
  ['Large Cabinet', 320, 800],
  ['Storage Box', 15.8, 14],
  ['Pedal Bin', 47, 10],
  ['Large Desk', 1799, 1299],
  ['Flipover', 1950, 1700],
  ['Whiteboard — größe L', 1.7, 1.2],
];

const named = goods.map(([name, list_price, standard_price], index) => ({
  id: index + 2,
  name,
  list_price,
  standard_price,
  type: index < 3 ? 'service' : 'consu',
  default_code: `FURN_${1000 + index}`,
}));

// Product 44 is the one that the recordings sell.
const templates = [
  { id: 1, name: 'Restaurant Expenses', list_price: 14, standard_price: 8 },
  ...named,
  { id: 44, name: 'Acoustic Bloc Screen', list_price: 295, standard_price: 287 },
];

export const products: Seed = {
  'product.template': templates,
  'product.product': templates.map((row) => ({
    id: row.id,
    product_tmpl_id: row.id,
    default_code: 'default_code' in row ? row.default_code : null,
  })),
};

const orders: readonly [number, number, string, string, readonly [number, number][]][] = [
  [
    1,
    10,
    'draft',
    '2026-10-21 01:31:00',
    [
      [10, 2],
      [5, 3],
      [6, 1],
    ],
  ],
  [
    2,
    12,
    'draft',
    '2026-10-21 01:31:00',
    [
      [14, 1],
      [9, 1],
    ],
  ],
  [
    3,
    12,
    'draft',
    '2026-11-21 01:31:34',
    [
      [2, 1],
      [3, 2],
    ],
  ],
  [4, 11, 'sale', '2026-11-14 01:31:34', [[8, 4]]],
  [
    5,
    15,
    'sent',
    '2026-10-22 01:31:34',
    [
      [15, 1],
      [12, 20],
    ],
  ],
  [
    6,
    13,
    'sale',
    '2026-10-23 01:31:34',
    [
      [13, 2],
      [11, 1],
    ],
  ],
  [7, 18, 'sale', '2026-11-02 22:15:00', [[44, 3]]],
  [9, 9, 'sale', '2026-11-06 09:30:00', [[6, 2]]],
  [8, 16, 'cancel', '2026-11-05 08:00:00', [[16, 100]]],
];

const prices = new Map(templates.map((row) => [row.id, row] as const));

export const sales: Seed = {
  'sale.order': orders.map(([id, partner_id, state, date_order]) => ({
    id,
    partner_id,
    state,
    date_order,
    name: `S${String(id).padStart(5, '0')}`,
    company_id: 1,
    user_id: 2,
    validity_date: '2026-12-21',
  })),
  'sale.order.line': orders.flatMap(([order_id, , , , lines]) =>
    lines.map(([product_id, product_uom_qty]) => ({
      order_id,
      product_id,
      product_uom_qty,
      name: prices.get(product_id)?.name ?? '',
      price_unit: prices.get(product_id)?.list_price ?? 0,
    })),
  ),
};

export const crm: Seed = {
  'crm.tag': [
    'Product',
    'Software',
    'Services',
    'Information',
    'Design',
    'Training',
    'Consulting',
    'Other',
  ].map((name, index) => ({ id: index + 1, name, color: index + 1 })),
  'crm.stage': ['New', 'Qualified', 'Proposition', 'Won'].map((name, sequence) => ({
    id: sequence + 1,
    name,
    sequence,
  })),
  'crm.lead': [
    { id: 1, name: 'Club Office Furnitures', tag_ids: [6], stage_id: 1, priority: '1' },
    {
      id: 2,
      name: 'Design Software',
      probability: 50,
      tag_ids: [2],
      stage_id: 1,
      priority: '1',
      description: '<p>Needs <b>3</b> seats</p>',
      source_ref: 'res.partner,10',
    },
    {
      id: 3,
      name: 'Global Solutions: Furnitures',
      probability: 90,
      expected_revenue: 3800,
      tag_ids: [1],
      stage_id: 2,
      date_deadline: '2026-12-01',
      partner_id: 10,
    },
  ],
};
