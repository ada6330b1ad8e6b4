/** Seed data: products, sales orders, the sales pipeline, templates of messages and types of activities. */
import { readTable } from './read-table.ts';
import type { Seed } from './seed.ts';

// The recordings sell product 44.
const goods = readTable(`
  id | name                    | list_price | standard_price | type    | default_code | categ_id
  1  | Restaurant Expenses     | 14         | 8              | service |              | 3
  2  | Hotel Accommodation     | 400        | 400            | service | FURN_1000    | 5
  3  | Virtual Interior Design | 30.75      | 20.5           | service | FURN_1001    | 5
  4  | Virtual Home Staging    | 38.25      | 25.5           | service | FURN_1002    | 5
  5  | Office Chair            | 70         | 55             | consu   | FURN_1003    | 4
  6  | Office Lamp             | 40         | 35             | consu   | FURN_1004    | 4
  7  | Office Design Software  | 280        | 235            | consu   | FURN_1005    | 6
  8  | Desk Combination        | 450        | 300            | consu   | FURN_1006    | 4
  9  | Customizable Desk       | 750        | 500            | consu   | FURN_1007    | 4
  10 | Corner Desk Left Sit    | 85         | 78             | consu   | FURN_1008    | 4
  11 | Large Cabinet           | 320        | 800            | consu   | FURN_1009    | 4
  12 | Storage Box             | 15.8       | 14             | consu   | FURN_1010    | 4
  13 | Pedal Bin               | 47         | 10             | consu   | FURN_1011    | 4
  14 | Large Desk              | 1799       | 1299           | consu   | FURN_1012    | 4
  15 | Flipover                | 1950       | 1700           | consu   | FURN_1013    | 4
  16 | Whiteboard — größe L    | 1.7        | 1.2            | consu   | FURN_1014    | 4
  44 | Acoustic Bloc Screen    | 295        | 287            | consu   | FURN_1015    | 4`);

export const products: Seed = {
  'product.category': readTable(`
    id | name             | parent_id
    1  | All              |
    2  | Saleable         | 1
    3  | Expenses         | 1
    4  | Office Furniture | 2
    5  | Services         | 2
    6  | Software         | 2`),
  'product.template': goods,
  'product.product': goods.map(({ id = 0, default_code = null }) => ({
    id,
    product_tmpl_id: id,
    default_code,
  })),
};

const orders = readTable(`
  id | partner_id | state  | date_order          | lines
  1  | 10         | draft  | 2026-10-21 01:31:00 | 10×2 5×3 6×1
  2  | 12         | draft  | 2026-10-21 01:31:00 | 14×1 9×1
  3  | 12         | draft  | 2026-11-21 01:31:34 | 2×1 3×2
  4  | 11         | sale   | 2026-11-14 01:31:34 | 8×4
  5  | 15         | sent   | 2026-10-22 01:31:34 | 15×1 12×20
  6  | 13         | sale   | 2026-10-23 01:31:34 | 13×2 11×1
  7  | 18         | sale   | 2026-11-02 22:15:00 | 44×3
  8  | 16         | cancel | 2026-11-05 08:00:00 | 16×100
  9  | 9          | sale   | 2026-11-06 09:30:00 | 6×2`);

export const sales: Seed = {
  'sale.order': orders.map(({ lines: _, ...order }) => ({
    ...order,
    name: `S${String(order['id']).padStart(5, '0')}`,
    company_id: 1,
    user_id: 2,
    validity_date: '2026-12-21',
  })),
  'sale.order.line': orders.flatMap(({ id = 0, lines }) =>
    String(lines)
      .split(' ')
      .map((line) => {
        const [product_id = 0, product_uom_qty = 0] = line.split('×').map(Number);
        const sold = goods.find((row) => row['id'] === product_id);
        const [name = '', price_unit = 0] = [sold?.['name'], sold?.['list_price']];
        return { order_id: id, product_id, product_uom_qty, name, price_unit };
      }),
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
  'crm.team': ['Sales', 'Website'].map((name, index) => ({
    id: index + 1,
    name,
    sequence: index,
    invoiced_target: 250_000,
  })),
  'crm.stage': ['New', 'Qualified', 'Proposition', 'Won'].map((name, index) => ({
    id: index + 1,
    name,
    sequence: index,
    is_won: name === 'Won',
  })),
  'crm.lead': readTable(`
    id | name                         | tag_ids | stage_id | probability | expected_revenue | date_deadline | partner_id | description                 | x_source_ref
    1  | Club Office Furnitures       | [6]     | 1        |             |                  |               |            |                             |
    2  | Design Software              | [2]     | 1        | 50          |                  |               |            | <p>Needs <b>3</b> seats</p> | res.partner,10
    3  | Global Solutions: Furnitures | [1]     | 2        | 90          | 3800             | 2026-12-01    | 10         |                             |`).map(
    (row) => ({ ...row, priority: '1' }),
  ),
};

export const reports: Seed = {
  'ir.actions.report': readTable(`
    id  | name              | model      | report_name                  | xml_id
    310 | PDF Quote         | sale.order | sale.report_saleorder          | sale.action_report_saleorder
    311 | PRO-FORMA Invoice | sale.order | sale.report_saleorder_pro_forma | sale.action_report_pro_forma_invoice`),
};

export const mail: Seed = {
  'mail.template': readTable(`
    id | name                      | model      | subject                        | body_html
    17 | Sales: Send Quotation     | sale.order | Quotation {{ object.name }}    | <p>Your quotation {{ object.name }} is ready for review.</p>
    19 | Sales: Order Cancellation | sale.order | {{ object.name }} is cancelled | <p>Your order {{ object.name }} has been cancelled.</p>`),
  'mail.activity.type': readTable(`
    id | name    | sequence | xml_id
    1  | Email   | 3        | mail.mail_activity_data_email
    2  | Call    | 6        | mail.mail_activity_data_call
    3  | Meeting | 9        | mail.mail_activity_data_meeting
    4  | To-Do   | 12       | mail.mail_activity_data_todo`),
};
