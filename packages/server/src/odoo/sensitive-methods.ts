/**
 * Methods that give away more than the model's name says: credentials, code that runs, rights, records of any model. A
 * policy must name them in so many words. One table; docs/sensitive-methods.md is generated from it.
 */
import { isReadOnlyMethod } from './methods.ts';

interface SensitiveRow {
  /** In these and in `methods` `*` stands for any text. */
  models: readonly string[];
  /** `writes`: all that are not known to only read. */
  methods: readonly string[] | 'writes';
  /** What they do, as the end of a sentence about one of them. */
  reason: string;
}

const SENSITIVE_METHODS: readonly SensitiveRow[] = [
  {
    models: [
      'res.users.apikeys*',
      'res.users.identitycheck',
      'change.password.*',
      'auth_totp.*',
      'auth.passkey.*',
      // Holds database.secret, by which Odoo signs tokens.
      'ir.config_parameter',
      'res.config.*',
      'ir.mail_server',
      'fetchmail.server',
      'res.company.ldap',
      'mail.ice.server',
      'payment.provider',
      'payment.acquirer',
      'payment.token',
      'account.online.link',
      'social.account',
      'whatsapp.account',
      // Tokens of calendars and of telephony.
      'res.users.settings',
      // Addresses of documents with the tokens that open them.
      'portal.share',
      'payment.link.wizard',
      'iap.account',
      'certificate.*',
      'google.*',
      'microsoft.*',
    ],
    methods: ['*'],
    reason: 'can show or set credentials',
  },
  {
    // Also their passwords, groups and companies.
    models: ['res.users', 'portal.wizard*', 'auth.oauth.provider'],
    methods: 'writes',
    reason: 'can change who signs in, and with which rights',
  },
  {
    models: ['*'],
    methods: [
      'authenticate',
      '*password*',
      '*api_key*',
      '*apikey*',
      '*secret*',
      '*credential*',
      '*token*',
      '*signup*',
      // The address of a document with the token that opens it.
      'get_portal_url',
      'get_access_action',
      'preview_*',
      'action_preview_*',
    ],
    reason: 'can show or set credentials',
  },
  {
    models: [
      'ir.cron*',
      'base.language.*',
      'base.module.*',
      'base.import.module',
      'ir.qweb*',
      // Of queue_job, which runs methods by their names.
      'queue.job*',
      // A composer renders templates for records of any model.
      'mail.compose.message',
      'sms.composer',
      'whatsapp.composer',
    ],
    methods: ['*'],
    reason: 'can run code, or change what code runs',
  },
  {
    models: [
      'ir.actions.*',
      'ir.embedded.actions',
      'base.automation*',
      'ir.module.*',
      // Fields with code; access rights and external ids are among the models too.
      'ir.model',
      'ir.model.*',
      // Templates hold expressions.
      'ir.ui.view*',
      'mail.template*',
      'sms.template*',
      'whatsapp.template*',
      'mailing.mailing',
      'marketing.*',
      // Scripts in the head and foot of every page, in menus and in snippets; where pages lead; what themes copy there.
      'website',
      'website.page*',
      'website.controller.page',
      'website.menu',
      'website.rewrite',
      'website.snippet.filter',
      'theme.*',
      'ir.asset',
      '*.assets',
      'web_studio.*',
      'studio.*',
      // Python in a field.
      'account.tax',
      'account.tax.template',
      'gamification.goal.definition',
      'hr.salary.rule*',
    ],
    methods: 'writes',
    reason: 'can run code, or change what code runs',
  },
  {
    // An alias makes records of any model from mail.
    models: ['res.groups*', 'ir.rule*', 'ir.default', 'ir.property', 'mail.alias'],
    methods: 'writes',
    reason: 'can change rights, or values in any model',
  },
  {
    models: ['base_import.*', 'base.partner.merge*', 'privacy.lookup*'],
    methods: ['*'],
    reason: 'reaches records of any model',
  },
  {
    // They take paths: `user_ids/login`, `user_ids.login`; a copy has the lines of its record.
    models: ['*'],
    methods: ['export_data', 'load', 'mapped', 'copy_data'],
    reason: 'reaches records of related models',
  },
];

/** What a policy must know to allow it, as the end of a sentence about the method; null for any other method. */
export function findSensitivity(model: string, method: string): string | null {
  const isReadOnly = isReadOnlyMethod(method, model);
  const row = COMPILED.find(
    ({ models, methods }) => models.test(model) && (methods === null ? !isReadOnly : methods.test(method)),
  );
  return row?.reason ?? null;
}

const COMPILED = SENSITIVE_METHODS.map(({ models, methods, reason }) => ({
  models: compile(models),
  methods: methods === 'writes' ? null : compile(methods),
  reason,
}));

/** Of patterns written here: none has more than two `*`. */
function compile(patterns: readonly string[]): RegExp {
  const sources = patterns.map((pattern) => pattern.replaceAll('.', '\\.').replaceAll('*', '.*'));
  return new RegExp(`^(?:${sources.join('|')})$`);
}

/** The page for operators. */
export function renderSensitiveMethods(): string {
  const rows = SENSITIVE_METHODS.map(({ models, methods, reason }) => {
    const which = methods === 'writes' ? 'all that are not known to only read' : listNames(methods);
    return `| ${listNames(models)} | ${which} | ${reason} |`;
  });
  return `<!-- Generated from packages/server/src/odoo/sensitive-methods.ts by "npm run docs": change it there. -->

# Methods that a policy must name

A [policy](policies.md) allows these only where an entry of its \`models\` is the model itself and lists the method itself, both
without \`*\`: \`{"res.users": ["change_password"]}\`. Keys without a policy are not restricted.

| models | methods | what one of them does |
|---|---|---|
${rows.join('\n')}
`;
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
