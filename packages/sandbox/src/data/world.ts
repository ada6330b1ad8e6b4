/** Seed data: countries, currencies, languages, companies and users. */
import { readTable } from './read-table.ts';
import type { Seed } from './seed.ts';
import { users } from './users.ts';

const belgianAddress = '%(street)s\n%(street2)s\n%(zip)s %(city)s\n%(country_name)s';

export const world: Seed = {
  'res.lang': readTable(`
    id | name              | code  | active
    1  | English (US)      | en_US | true
    2  | French / Français | fr_FR | false
    3  | German / Deutsch  | de_DE | false`),
  'res.currency': readTable(`
    id  | name | full_name            | symbol | position | rounding | decimal_places | active
    1   | USD  | United States dollar | $      | before   | 0.01     | 2              | true
    2   | GBP  | Pound sterling       | £      | before   | 0.01     | 2              | false
    25  | JPY  | Japanese yen         | ¥      | before   | 1        | 0              | false
    125 | EUR  | Euro                 | €      | after    | 0.01     | 2              | false`),
  'res.country.group': readTable(`
    id | name
    1  | Europe
    2  | South America
    3  | SEPA Countries`),
  'res.country': readTable(`
    id  | name           | code | currency_id | phone_code | country_group_ids | vat_label | state_required
    20  | Belgium        | BE   | 125         | 32         | [1, 3]            | VAT       | false
    57  | Germany        | DE   | 125         | 49         | [1, 3]            | VAT       | false
    75  | France         | FR   | 125         | 33         | [1, 3]            | VAT       | false
    113 | Japan          | JP   | 25          | 81         |                   |           | false
    231 | United Kingdom | GB   | 2           | 44         | [1]               | VAT       | false
    233 | United States  | US   | 1           | 1          |                   |           | true`).map(
    (row) => (row['code'] === 'BE' ? { ...row, address_format: belgianAddress } : row),
  ),
  'res.country.state': readTable(`
    id | country_id | name       | code
    13 | 233        | California | CA
    17 | 233        | New York   | NY
    51 | 113        | 東京都      | JP-13`),
  'res.currency.rate': readTable(`
    id | name       | rate | currency_id | company_id
    1  | 2010-01-01 | 1    | 1           | 1
    2  | 2031-02-03 | 1    | 1           | 1`),
};

const everyGroup = [
  'api_doc.group_allow_doc',
  'account.group_account_invoice',
  'base.group_erp_manager',
  'base.group_partner_manager',
  'base.group_system',
  'base.group_user',
  'sales_team.group_sale_manager',
  'sales_team.group_sale_salesman',
];
const groups: Readonly<Record<string, readonly string[]>> = { admin: everyGroup, demo: ['base.group_user'] };

export const people: Seed = {
  'res.company': readTable(`
    id | name           | partner_id | currency_id | email
    1  | YourCompany    | 1          | 1           | info@yourcompany.example.com
    2  | Second Company | 71         | 1           |`),
  'res.users': readTable(`
    id                      | name           | login      | partner_id | company_id | company_ids | active | tz
    1                       | OdooBot        | __system__ | 2          | 1          | [1]         | false  |
    ${users.admin.userId}   | Mitchell Admin | admin      | 3          | 1          | [1, 2]      | true   | Europe/Brussels
    ${users.demo.userId}    | Marc Demo      | demo       | 8          | 1          | [1]         | true   | Europe/Brussels`).map(
    (row) => ({ ...row, groups: groups[String(row['login'])] ?? [] }),
  ),
};
