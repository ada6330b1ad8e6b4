/** Records as Odoo returns them, with fields of the usual types, for results whose values are converted. */

/** The result of `fields_get` for these records. */
export const FIELD_TYPES: Record<string, { type: string; relation?: string }> = {
  id: { type: 'integer' },
  name: { type: 'char' },
  email: { type: 'char' },
  phone: { type: 'char' },
  ref: { type: 'char' },
  is_company: { type: 'boolean' },
  parent_id: { type: 'many2one', relation: 'res.partner' },
  country_id: { type: 'many2one', relation: 'res.country' },
  user_id: { type: 'many2one', relation: 'res.users' },
  category_id: { type: 'many2many', relation: 'res.partner.category' },
  create_date: { type: 'datetime' },
  write_date: { type: 'datetime' },
  date: { type: 'date' },
  credit_limit: { type: 'float' },
  color: { type: 'integer' },
  comment: { type: 'html' },
};

const COUNTRIES = ['United States', 'Belgium', 'Germany', 'Côte d’Ivoire', 'Indonesia'];
const COMPANIES = ['Azure Interior', 'Deco Addict', 'Gemini Furniture', 'Ready Mat', 'The Jackson Group'];

/** Records of about this many bytes in total, as a list in Python's format of JSON. */
export function printRecords(bytes: number): string {
  let text = '[';
  for (let id = 1; text.length < bytes; id++) text += `${id === 1 ? '' : ', '}${printRecord(id)}`;
  return `${text}]`;
}

function printRecord(id: number): string {
  const hash = (id * 2654435761) % 2 ** 32;
  const pick = (from: readonly string[]) => from[hash % from.length]!;
  const company = pick(COMPANIES);
  const values = {
    id,
    name: `Contact ${hash % 65_537} of ${company}`,
    email: `contact.${hash % 65_537}@example.com`,
    phone: hash % 3 === 0 ? false : `+1 555-${1000 + (hash % 9000)}`,
    ref: hash % 5 === 0 ? `C${hash % 100_000}` : false,
    is_company: hash % 4 === 0,
    parent_id: hash % 4 === 0 ? false : [hash % 1000, company],
    country_id: [hash % 250, pick(COUNTRIES)],
    user_id: hash % 2 === 0 ? [2, 'Mitchell Admin'] : false,
    category_id: Array.from({ length: hash % 4 }, (_, index) => (hash + index) % 40),
    create_date: printMoment(hash),
    write_date: printMoment(hash * 3),
    date: hash % 7 === 0 ? '2026-10-21' : false,
    credit_limit: (hash % 100_000) / 100,
    color: hash % 12,
    comment: hash % 10 === 0 ? `<p>${'Prefers to be called in the morning. '.repeat(4)}</p>` : false,
  };
  const members = Object.entries(values).map(([name, value]) => `"${name}": ${printValue(value)}`);
  return `{${members.join(', ')}}`;
}

function printValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  // Python escapes all that is not ASCII.
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function printMoment(seed: number): string {
  return new Date(1.5e12 + (seed % 2 ** 32) * 60).toISOString().slice(0, 19).replace('T', ' ');
}
