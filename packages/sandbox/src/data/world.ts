/** Countries, currencies, languages, companies and users of the seed. */
import type { Seed } from './seedStore.ts';
import { users } from './users.ts';

const flag = { zip_required: true, name_position: 'before' };

export const world: Seed = {
  'res.lang': [
    { id: 1, name: 'English (US)', code: 'en_US', active: true },
    { id: 2, name: 'French / Français', code: 'fr_FR', active: false },
    { id: 3, name: 'German / Deutsch', code: 'de_DE', active: false },
  ],
  'res.currency': [
    { id: 1, name: 'USD', full_name: 'United States dollar', symbol: '$', position: 'before' },
    { id: 2, name: 'GBP', full_name: 'Pound sterling', symbol: '£', active: false },
    {
      id: 25,
      name: 'JPY',
      full_name: 'Japanese yen',
      symbol: '¥',
      rounding: 1,
      decimal_places: 0,
      active: false,
    },
    { id: 125, name: 'EUR', full_name: 'Euro', symbol: '€', active: false },
  ],
  'res.country.group': [
    { id: 1, name: 'Europe' },
    { id: 2, name: 'South America' },
    { id: 3, name: 'SEPA Countries' },
  ],
  'res.country': [
    {
      id: 20,
      name: 'Belgium',
      code: 'BE',
      address_format: '%(street)s\n%(street2)s\n%(zip)s %(city)s\n%(country_name)s',
      currency_id: 125,
      phone_code: 32,
      country_group_ids: [1, 3],
      vat_label: 'VAT',
      ...flag,
    },
    {
      id: 57,
      name: 'Germany',
      code: 'DE',
      currency_id: 125,
      phone_code: 49,
      country_group_ids: [1, 3],
      vat_label: 'VAT',
      ...flag,
    },
    {
      id: 75,
      name: 'France',
      code: 'FR',
      currency_id: 125,
      phone_code: 33,
      country_group_ids: [1, 3],
      vat_label: 'VAT',
      ...flag,
    },
    { id: 113, name: 'Japan', code: 'JP', currency_id: 25, phone_code: 81, ...flag },
    {
      id: 231,
      name: 'United Kingdom',
      code: 'GB',
      currency_id: 2,
      phone_code: 44,
      vat_label: 'VAT',
      ...flag,
    },
    {
      id: 233,
      name: 'United States',
      code: 'US',
      currency_id: 1,
      phone_code: 1,
      state_required: true,
      ...flag,
    },
  ],
  'res.country.state': [
    { id: 13, country_id: 233, name: 'California', code: 'CA' },
    { id: 17, country_id: 233, name: 'New York', code: 'NY' },
    { id: 51, country_id: 113, name: '東京都', code: '13' },
  ],
  'res.currency.rate': [
    { id: 1, name: '2010-01-01', rate: 1, currency_id: 1, company_id: 1 },
    { id: 2, name: '2031-02-03', rate: 1, currency_id: 1, company_id: 1 },
  ],
};

const everyGroup = [
  'base.group_user',
  'base.group_system',
  'base.group_erp_manager',
  'base.group_partner_manager',
  'sales_team.group_sale_manager',
  'sales_team.group_sale_salesman',
  'account.group_account_invoice',
];

const person = { lang: 'en_US', tz: 'Europe/Brussels', active: true };

export const people: Seed = {
  'res.company': [
    { id: 1, name: 'YourCompany', partner_id: 1, currency_id: 1, email: 'info@yourcompany.example.com' },
    { id: 2, name: 'Second Company', partner_id: 71, currency_id: 1 },
  ],
  'res.users': [
    {
      id: 1,
      name: 'OdooBot',
      login: '__system__',
      partner_id: 2,
      company_id: 1,
      company_ids: [1],
      groups: [],
      ...person,
      active: false,
    },
    {
      id: users.admin.userId,
      name: 'Mitchell Admin',
      login: users.admin.login,
      partner_id: 3,
      company_id: 1,
      company_ids: [1, 2],
      groups: everyGroup,
      ...person,
      email: 'admin@yourcompany.example.com',
    },
    {
      id: users.demo.userId,
      name: 'Marc Demo',
      login: users.demo.login,
      partner_id: 8,
      company_id: 1,
      company_ids: [1],
      groups: ['base.group_user'],
      ...person,
      email: 'demo@yourcompany.example.com',
    },
  ],
};
