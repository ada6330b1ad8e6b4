/**
 * The members of a policy, one row each. The parser, the schema of the admin API and its OpenAPI document follow from
 * this table.
 */
import { DATA_ROUTES, FLEET_ACCESS, type Policy } from '@erp-proxy/contract';
import { isTimeZone } from '@erp-proxy/odoo/times';
import { parseBlock } from '@erp-proxy/text';
import { z } from 'zod';
import { findFieldError } from './field-pattern.ts';
import {
  choice,
  choices,
  count,
  counts,
  flag,
  ids,
  type MemberKind,
  members,
  rulesByPattern,
  text,
  texts,
  textsByPattern,
} from './member-kinds.ts';
import { findOriginError } from './origin-pattern.ts';
import { findPatternError } from './pattern.ts';

const NAME_RULE = 'letters, digits, "_", "." and "-" only';
const COMPANY_RULE = "must be a company's id, a positive integer";
/** Language codes as Odoo writes them: `fr`, `fr_FR`, `es_419`, `sr@latin`. */
const LANGUAGE = /^[a-z]{2,3}(_([A-Z]{2}|[0-9]{3}))?(@[A-Za-z]+)?$/;

/** The members in the order in which their errors are reported. */
export const POLICY_MEMBERS: { [Name in keyof Policy]-?: MemberKind<Required<Policy>[Name]> } = {
  models: {
    ...textsByPattern(
      'Patterns of models, each with patterns of its methods. The method `*` stands for those that are known to keep to records of their model.',
      {
        rule: 'must name the models and their methods, e.g. {"res.partner": ["read", "search*"]}',
        findNameError: findModelError,
        findEntryError: findMethodError,
      },
    ),
    isRequired: true,
  },
  approve: textsByPattern(
    'Patterns of models, each with patterns of its methods that run only after an administrator has approved the call.',
    {
      rule: 'must name models and their methods, e.g. {"account.move": ["unlink"]}; leave it out if no call needs an approval',
      findNameError: findModelError,
      findEntryError: findMethodError,
    },
  ),
  unattended: textsByPattern(
    'Patterns of models, each with patterns of its methods that tools for agents call without asking a person.',
    {
      rule: 'must name models and their methods, e.g. {"sale.order": ["action_confirm"]}; leave it out if a person is asked about each call that cannot be undone',
      findNameError: findModelError,
      findEntryError: findMethodError,
    },
  ),
  fields: rulesByPattern(
    'Patterns of models, each with patterns of the fields that calls may use (`allow`), or may not use (`deny`).',
    {
      rule: 'must name models and their fields, e.g. {"res.partner": {"deny": ["vat", "signup_*"]}}',
      findNameError: findModelError,
      findEntryError: findFieldError,
    },
  ),
  instances: texts('Patterns of the names of stored instances.', findNameError),
  origins: texts('Patterns of origins, for calls that bring their own credentials.', (text) =>
    findOriginError(text, ['http', 'https']),
  ),
  dbs: texts('Patterns of databases, for calls that bring their own credentials.', findNameError),
  cidrs: texts('Addresses and networks that calls may come from.', (text) =>
    parseBlock(text) === null
      ? 'must be an address or a network, e.g. 10.0.0.0/8 (no bits may be set behind its prefix)'
      : null,
  ),
  cors_origins: texts('Patterns of browser origins that may use the key.', (text) =>
    findOriginError(text, 'any'),
  ),
  companies: ids('Ids of the companies that calls may use.', COMPANY_RULE),
  context: members(
    'Members of the context that calls get where they leave them out.',
    'must be an object, e.g. {"lang": "fr_FR", "tz": "Europe/Paris"}',
    {
      lang: text('Code of a language of Odoo.', (code) =>
        LANGUAGE.test(code) ? null : 'must be the code of a language of Odoo, e.g. fr_FR',
      ),
      tz: text('Name of a time zone.', (name) =>
        isTimeZone(name) ? null : 'must be the name of a time zone, e.g. Europe/Paris',
      ),
      allowed_company_ids: ids('Ids of companies. With `companies`, they must be among those.', COMPANY_RULE),
    },
  ),
  data: choices(
    'What moves data that the key may use beside single calls. Each also needs `models` to allow what it reads and writes.',
    DATA_ROUTES,
  ),
  fleet: choice(
    'What calls to many instances at once may do: `read` only (default), or also `write`, which `models` must allow too.',
    FLEET_ACCESS,
  ),
  limit_max: count('Maximum number of records of one read.'),
  per_day: count('Maximum number of calls in one day (UTC).'),
  per_month: count('Maximum number of calls in one calendar month (UTC).'),
  concurrency: count('Maximum number of concurrent calls.'),
  rate: counts(
    'Maximum average rate: `requests` calls in `seconds` seconds. `burst` calls may come at once; default: `requests`.',
    {
      rule: 'must be an object, e.g. {"requests": 100, "seconds": 60}',
      required: ['requests', 'seconds'],
      optional: ['burst'],
    },
  ),
  read_only: flag('True: only methods that are known to do nothing but read.'),
  allow_unknown_methods: flag(
    'True: the method `*` stands for every method, also for those that are not known to keep to records of their model.',
  ),
  cache: flag('True: reads may be answered with kept answers.'),
  publishable: flag(
    'True: the key may be in the source of a web page. It must then be read-only, and instances, models and web origins are named without `*`.',
  ),
};

/** The shape of a policy, for the OpenAPI document. Policies are read by `parsePolicy`, which reports all errors. */
export const POLICY_SCHEMA = z
  .object(
    Object.fromEntries(
      Object.entries(POLICY_MEMBERS).map(([name, { schema, isRequired }]) => [
        name,
        isRequired === true ? schema : schema.exactOptional(),
      ]),
    ),
  )
  .describe(
    'What a key may do. A policy allows only what it names: a server by `instances` or `origins`, a method by `models`. Other members narrow that, and restrict nothing if they are left out. There are two exceptions: without `cors_origins` no web page may use the key, and without `cache` no read gets a kept answer. A key without a policy cannot be used by web pages. In patterns, `*` stands for any text.',
    // The table gives each member the type that it has in Policy.
  ) as unknown as z.ZodType<Policy>;

function findNameError(text: string): string | null {
  return findPatternError(text, /^[A-Za-z0-9_.*-]*$/, NAME_RULE);
}

function findModelError(text: string): string | null {
  return findPatternError(text, /^[A-Za-z0-9_.*]*$/, 'letters, digits, "_" and "." only');
}

function findMethodError(text: string): string | null {
  if (text === 'call_method') return 'is no method: name the one that `fn_name` will';
  return findPatternError(
    text,
    /^[A-Za-z*][A-Za-z0-9_*]*$/,
    'letters, digits and "_" only, and begins with a letter',
  );
}
