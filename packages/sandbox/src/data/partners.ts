/** Contacts of the seed: companies with their people. */
import type { Json } from '../json/value.ts';
import type { Seed } from './seedStore.ts';

// A 1×1 PNG, repeated in a comment chunk's place so that bin_size has something to say.
const portrait = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;
const image = Buffer.concat([Buffer.from(portrait, 'base64'), Buffer.alloc(15_000)]).toString('base64');

export const companies: Seed = {
  'res.partner.category': [
    { id: 1, name: 'Prospects', color: 1 },
    { id: 2, name: 'Vendor', color: 2 },
    { id: 3, name: 'Consulting Services', color: 5, parent_id: 2 },
  ],
  'res.partner': [
    {
      id: 1,
      name: 'YourCompany',
      is_company: true,
      country_id: 233,
      state_id: 13,
      city: 'San Francisco',
      street: '250 Executive Park Blvd',
      zip: '94134',
      email: 'info@yourcompany.example.com',
      phone: '+1 555-555-5556',
      company_id: 1,
    },
    { id: 2, name: 'OdooBot', parent_id: 1, active: false, email: 'odoobot@example.com' },
    {
      id: 3,
      name: 'Mitchell Admin',
      parent_id: 1,
      country_id: 233,
      state_id: 13,
      email: 'admin@yourcompany.example.com',
      function: 'Administrator',
      tz: 'Europe/Brussels',
      image_1920: image,
    },
    {
      id: 8,
      name: 'Marc Demo',
      parent_id: 1,
      country_id: 233,
      email: 'demo@yourcompany.example.com',
      image_1920: image,
    },
    { id: 71, name: 'Second Company', is_company: true, country_id: 20, city: 'Namur', company_id: 2 },
  ],
};

const firms: readonly [number, string, number, string, readonly string[]][] = [
  [9, 'Wood Corner', 233, 'info@wood.example.com', ['Willie Burke', 'Ron Gibson']],
  [10, 'Deco Addict', 233, 'deco@addict.example.com', ['Addison Olson', 'Douglas Fletcher', 'Floyd Steward']],
  [
    11,
    'Gemini Furniture',
    233,
    'gemini@furniture.example.com',
    ['Edwin Hansen', 'Jesse Brown', 'Soham Palmer'],
  ],
  [12, 'Ready Mat', 233, 'ready@mat.example.com', ['Billy Fox', 'Kim Snyder', 'Edith Sanchez']],
  [13, 'The Jackson Group', 233, 'jackson@group.example.com', ['Gordon Owens', 'Toni Jimenez']],
  [14, 'Lumber Inc', 233, 'lumber@inc.example.com', ['Lorraine Douglas']],
  [
    15,
    'Azure Interior',
    233,
    'azure@interior.example.com',
    ['Brandon Freeman', 'Colleen Diaz', 'Nicole Ford'],
  ],
  [16, 'Brasserie Zoë', 20, 'zoe@brasserie.example.com', ['Zoë Lefèvre', 'Håkon Ødegård']],
  [17, 'Müller & Söhne GmbH', 57, 'mueller@soehne.example.com', ['Jürgen Müller']],
  [18, '株式会社さくら', 113, 'sakura@example.com', ['山田 太郎', '佐藤 花子']],
  [19, 'Café “L’Étoile” 🌟', 75, 'etoile@cafe.example.com', ['Renée O’Neill']],
];

let personId = 20;

export const contacts: Seed = { 'res.partner': firms.flatMap(listFirm) };

function listFirm([id, name, country_id, email, staff]: (typeof firms)[number]) {
  const firm: Record<string, Json> = {
    id,
    name,
    country_id,
    email,
    is_company: true,
    category_id: [(id % 3) + 1],
    website: `https://${email.split('@')[1]}`,
  };
  const staffRows = staff.map((person) => {
    personId++;
    return {
      id: personId,
      name: person,
      parent_id: id,
      country_id,
      email: `contact${personId}@${email.split('@')[1]}`,
      function: 'Buyer',
    };
  });
  return [firm, ...staffRows];
}
