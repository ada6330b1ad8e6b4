/** Seed data: contacts, that is, companies with their people. */
import type { Row } from '../orm/row.ts';
import { readTable } from './read-table.ts';
import type { Seed } from './seed.ts';

// A picture of about 15 KB, so that `bin_size` makes a difference.
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = Buffer.concat([Buffer.from(pixel, 'base64'), Buffer.alloc(15_000)]).toString('base64');

export const companies: Seed = {
  'res.partner.category': readTable(`
    id | name                | color | parent_id
    1  | Prospects           | 1     |
    2  | Vendor              | 2     |
    3  | Consulting Services | 5     | 2`),
  'res.partner': readTable(`
    id | name           | parent_id | is_company | country_id | state_id | city          | company_id | active | email
    1  | YourCompany    |           | true       | 233        | 13       | San Francisco | 1          | true   | info@yourcompany.example.com
    2  | OdooBot        | 1         |            |            |          |               |            | false  | odoobot@example.com
    3  | Mitchell Admin | 1         |            | 233        | 13       |               |            | true   | admin@yourcompany.example.com
    8  | Marc Demo      | 1         |            | 233        |          |               |            | true   | demo@yourcompany.example.com
    71 | Second Company |           | true       | 20         |          | Namur         | 2          | true   |`).map(
    (row) =>
      row['id'] === 3 || row['id'] === 8 ? { ...row, image_1920: image, tz: 'Europe/Brussels' } : row,
  ),
};

const firms = readTable(`
  id | name                | country_id | domain              | people
  9  | Wood Corner         | 233        | wood.example.com    | Willie Burke, Ron Gibson
  10 | Deco Addict         | 233        | addict.example.com  | Addison Olson, Douglas Fletcher, Floyd Steward
  11 | Gemini Furniture    | 233        | gemini.example.com  | Edwin Hansen, Jesse Brown, Soham Palmer
  12 | Ready Mat           | 233        | mat.example.com     | Billy Fox, Kim Snyder, Edith Sanchez
  13 | The Jackson Group   | 233        | jackson.example.com | Gordon Owens, Toni Jimenez
  14 | Lumber Inc          | 233        | lumber.example.com  | Lorraine Douglas
  15 | Azure Interior      | 233        | azure.example.com   | Brandon Freeman, Colleen Diaz, Nicole Ford
  16 | Brasserie Zoë       | 20         | zoe.example.com     | Zoë Lefèvre, Håkon Ødegård
  17 | Müller & Söhne GmbH | 57         | soehne.example.com  | Jürgen Müller
  18 | 株式会社さくら        | 113        | sakura.example.com  | 山田 太郎, 佐藤 花子
  19 | Café “L’Étoile” 🌟  | 75         | etoile.example.com  | Renée O’Neill`);

let personId = 20;

export const contacts: Seed = { 'res.partner': firms.flatMap(listFirm) };

function listFirm({ people, domain, ...firm }: Row): Row[] {
  const id = firm['id'] as number;
  const website = `https://${domain}`;
  const staff = String(people)
    .split(', ')
    .map((name) => {
      personId++;
      const email = `contact${personId}@${domain}`;
      return {
        id: personId,
        name,
        email,
        parent_id: id,
        country_id: firm['country_id'] ?? null,
        function: 'Buyer',
      };
    });
  return [
    { ...firm, email: `info@${domain}`, website, is_company: true, category_id: [(id % 3) + 1] },
    ...staff,
  ];
}
