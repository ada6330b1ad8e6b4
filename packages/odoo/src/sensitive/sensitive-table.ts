/**
 * The methods that a policy must name literally, as data. Each row has the rule that puts it on the list, a reason, and
 * the versions of Odoo Community, or the module, that it applies to. Contains no decisions.
 */

/** The reasons for which a method is on the list. */
export const SENSITIVE_RULES = {
  credentials: {
    reason: 'can show or set credentials',
    meaning:
      'Holds credentials: a record or an answer has passwords, keys, tokens, certificates or links that give access to Odoo or to a service that Odoo uses. Reads are on the list too.',
  },
  sign_in: {
    reason: 'can change who signs in, and with which rights',
    meaning: 'Changes who signs in: creates users, sets their groups or passwords, or invites them.',
  },
  money: {
    reason: 'can change where money goes',
    meaning: 'Moves money: creates or trusts bank accounts of others, or captures and refunds payments.',
  },
  code: {
    reason: 'can run code, or change what code runs',
    meaning:
      'Runs code: runs Python, SQL, templates or scripts in pages, or changes what of these runs, when, and for whom.',
  },
  rights: {
    reason: 'can change rights, or values in any model',
    meaning:
      'Grants rights: changes who may see or change which records, or sets values and defaults in any model.',
  },
  any_model: {
    reason: 'reaches records of any model',
    meaning: 'Bypasses the policy: reads or changes records of models that the call does not name.',
  },
  related: {
    reason: 'reaches records of related models',
    meaning:
      'Follows paths: reads related records, of models that the call does not name (`user_ids.login`).',
  },
  as_another: {
    reason: 'can write in the name of somebody else',
    meaning:
      'Writes as somebody else: takes the author from the call, as the mail gateway does, or sends mail from any address.',
  },
} as const;

export type SensitiveRule = keyof typeof SENSITIVE_RULES;

export interface SensitiveRow {
  rule: SensitiveRule;
  /** Patterns, like `methods`: `*` stands for any text. */
  models: readonly string[];
  /** `writes`: all methods that are not known to be read-only. */
  methods: readonly string[] | 'writes';
  /** What the models hold, or what the methods do. */
  why: string;
  /** Versions of Odoo Community that have it, or the module that adds it. */
  versions: string;
}

const ALL = ['*'];

/** The first row that matches a call determines its rule. */
export const SENSITIVE_TABLE: readonly SensitiveRow[] = [
  // Models that hold credentials.
  {
    rule: 'credentials',
    models: ['res.users.apikeys*', 'res.users.identitycheck', 'change.password.*'],
    methods: ALL,
    why: 'API keys, and the forms that ask for passwords',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['auth_totp.*', 'auth.totp.*', 'auth.passkey.*'],
    methods: ALL,
    why: 'second factors, trusted devices, passkeys',
    versions: '14 to 19; passkeys 18, 19',
  },
  {
    rule: 'credentials',
    models: ['res.device*', 'res.users.deletion'],
    methods: ALL,
    why: 'identifiers of sessions; accounts to delete',
    versions: '18, 19; 16 to 19',
  },
  {
    rule: 'credentials',
    models: ['auth.oauth.*', 'res.company.ldap*', 'ldap.*'],
    methods: ALL,
    why: 'who vouches for users; client secrets (auth_oidc), the password of the directory',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['ir.config_parameter', 'res.config.*'],
    methods: ALL,
    why: 'system parameters, among them `database.secret`, by which Odoo signs tokens; settings show them',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['ir.mail_server', 'fetchmail.*', 'mail.ice.server'],
    methods: ALL,
    why: 'passwords and keys of mail and telephony servers',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: [
      'google.*',
      'microsoft.*',
      'google_calendar.*',
      'calendar.provider.config',
      'res.users.settings*',
    ],
    methods: ALL,
    why: 'tokens and client secrets of calendars, mail and telephony',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: [
      'payment.provider*',
      'payment.acquirer*',
      'sale.payment.*',
      'website.sale.payment.*',
      'payment.token',
      'payment.link.wizard',
    ],
    methods: ALL,
    why: 'keys of payment providers, saved cards, links that open a document',
    versions: '14, 15 (acquirer); 16 to 19 (provider)',
  },
  {
    rule: 'credentials',
    models: ['pos.payment.method'],
    methods: ALL,
    why: 'keys of payment terminals (Adyen, Stripe, Mercado Pago, Razorpay, Viva Wallet and others)',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['delivery.carrier'],
    methods: ALL,
    why: 'keys and passwords of carriers',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['iap.account', 'sms.account.*', 'sms.twilio.*', 'sms.provider'],
    methods: ALL,
    why: 'tokens of paid services and of providers of text messages',
    versions: '14 to 19; sms_twilio 18, 19',
  },
  {
    rule: 'credentials',
    models: ['certificate.*', 'l10n*.certificate', '*.thumb.drive'],
    methods: ALL,
    why: 'certificates with their private keys and passwords, among them those of electronic invoices (`l10n_es_edi.certificate`)',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['account_edi_proxy_client.user', 'account.online.link'],
    methods: ALL,
    why: 'private keys and tokens of electronic invoices, links to banks',
    versions: '15 to 19',
  },
  {
    rule: 'credentials',
    models: ['mail.guest', 'mail.push*', 'mail.partner.device', 'mail.notification.web.push'],
    methods: ALL,
    why: 'tokens of guests, keys of devices that get notifications',
    versions: '15 to 19',
  },
  {
    rule: 'credentials',
    models: ['portal.share', 'project.share.wizard', 'task.share.wizard', 'spreadsheet.dashboard.share'],
    methods: ALL,
    why: 'addresses of documents with the tokens that open them',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['mail.mail'],
    methods: ALL,
    why: 'mail that is queued or failed, including links that set passwords; it can be sent from any address',
    versions: '14 to 19',
  },
  {
    rule: 'credentials',
    models: ['base.automation*'],
    methods: ALL,
    why: 'addresses of webhooks, which hold their secret; runs code',
    versions: '14 to 19; webhooks 17 to 19',
  },
  {
    rule: 'credentials',
    models: ['ir.profile', 'base.enable.profiling.wizard'],
    methods: ALL,
    why: 'recordings of requests with their SQL and its values',
    versions: '15 to 19',
  },
  {
    rule: 'credentials',
    models: ['social.account', 'whatsapp.account', 'voip.provider', 'amazon.account', 'sale.ebay.*'],
    methods: ALL,
    why: 'tokens and passwords of accounts at other services',
    versions: 'Enterprise 14 to 19',
  },
  {
    rule: 'credentials',
    models: [
      'auth.api.*',
      'auth.saml.*',
      'res.users.saml',
      'auth.jwt.*',
      'auth.keycloak.*',
      'auth.verification.code*',
    ],
    methods: ALL,
    why: 'API keys, secrets and private keys of sign-in, tokens of users',
    versions:
      'OCA/server-auth: auth_api_key, auth_saml, auth_jwt, auth_keycloak, auth_verification_code_base',
  },
  {
    rule: 'credentials',
    models: [
      'oauth.provider.*',
      'auth_sms.*',
      'u2f.*',
      'res.users.authenticator*',
      'auth.partner*',
      'auth.directory*',
    ],
    methods: ALL,
    why: 'clients and tokens of OAuth, codes and devices of second factors, passwords of partners',
    versions:
      'OCA/server-auth, OCA/rest-framework: oauth_provider, auth_sms, auth_u2f, auth_totp, auth_partner',
  },
  {
    rule: 'credentials',
    models: ['res.users.pass.history', 'res.authentication.attempt'],
    methods: ALL,
    why: 'hashes of earlier passwords; logins and addresses that were tried',
    versions: 'OCA/server-auth: password_security, auth_brute_force',
  },
  {
    rule: 'credentials',
    models: ['vault', 'vault.*', 'res.users.key', 'keychain.*', 'encrypted.data', 'server.config'],
    methods: ALL,
    why: 'stored passwords and keys',
    versions: 'OCA/server-auth, OCA/server-env: vault, keychain, data_encryption, server_environment',
  },
  {
    rule: 'credentials',
    models: [
      '*.backend',
      'webservice.*',
      'fs.storage',
      'external.system*',
      'apicli.*',
      'mail.gateway',
      'base.ical*',
    ],
    methods: ALL,
    why: 'passwords and keys of other systems, of stores of files and of message services',
    versions: 'OCA: connector, web-api, storage, server-backend, social',
  },
  {
    rule: 'credentials',
    models: ['db.backup*', 'import.odoo.*', 'ebics.*', 'online.bank.statement.provider'],
    methods: ALL,
    why: 'passwords and keys of backups, imports and banks',
    versions: 'OCA: server-tools, bank-statement-import; Noviat: account_ebics',
  },
  {
    rule: 'credentials',
    models: [
      '*credential*',
      '*password*',
      '*secret*',
      '*token*',
      '*apikey*',
      '*api_key*',
      '*api.key*',
      '*oauth*',
      '*passkey*',
    ],
    methods: ALL,
    why: 'credentials, as the name of the model says',
    versions: 'any module',
  },

  // Users and invitations.
  {
    rule: 'sign_in',
    models: ['res.users'],
    methods: 'writes',
    why: 'users, with their passwords, groups and companies',
    versions: '14 to 19',
  },
  {
    rule: 'sign_in',
    models: ['portal.wizard*', 'project.share.wizard*'],
    methods: 'writes',
    why: 'invites partners as users',
    versions: '14 to 19',
  },
  {
    rule: 'sign_in',
    models: [
      'res.users.role*',
      'wizard.create.role.from.user',
      'wizard.groups.into.role',
      'res.users.profile*',
    ],
    methods: ALL,
    why: 'roles: the groups of each user, and until when',
    versions: 'OCA/server-backend: base_user_role, base_user_role_profile',
  },

  {
    rule: 'sign_in',
    models: ALL,
    methods: ['*create_user*'],
    why: 'creates users from other records: from employees, with their work addresses as logins',
    versions: '14 to 19, any module',
  },

  // Bank accounts and payments.
  {
    rule: 'money',
    models: ['hr.bank.account.allocation.wizard.line', 'payment.refund.wizard', 'payment.capture.wizard'],
    methods: 'writes',
    why: 'forms that trust bank accounts of employees, or refund and capture payments that they name',
    versions: '15 to 19; bank accounts 19',
  },
  {
    rule: 'money',
    models: ['account.batch.payment'],
    methods: ['initiate_payment', 'validate_batch'],
    why: 'sends payments to a bank',
    versions: '19',
  },
  {
    rule: 'money',
    models: ['hr.expense.stripe.topup.wizard', 'hr.expense.stripe.cardholder.wizard'],
    methods: 'writes',
    why: 'forms that move money to an account for cards, or give a card to a person',
    versions: '19',
  },

  // Methods that return or set credentials.
  {
    rule: 'credentials',
    models: ALL,
    methods: [
      'authenticate',
      'check_super',
      '*password*',
      '*api_key*',
      '*apikey*',
      '*secret*',
      '*credential*',
      '*token*',
      '*signup*',
      '*impersonat*',
    ],
    why: 'takes, checks or returns a credential, as its name says',
    versions: '14 to 19, any module',
  },
  {
    rule: 'credentials',
    models: ALL,
    methods: [
      'get_portal_url',
      'get_access_action',
      'preview_*',
      'action_preview_*',
      'action_customer_preview',
      'google_map_img',
    ],
    why: 'returns the address of a document with the token that opens it, or of a map with the key of the service',
    versions: '14 to 19',
  },

  // The mail gateway.
  {
    rule: 'as_another',
    models: ALL,
    methods: ['message_process', 'message_route', 'message_new', 'message_update', 'message_parse'],
    why: 'the mail gateway: creates or changes a record of any model from a mail and values of the call, as the sender that the mail names',
    versions: '14 to 19',
  },
  {
    rule: 'as_another',
    models: ['mail.alias.domain', 'mail.gateway.allowed'],
    methods: 'writes',
    why: 'which mail comes in, and from whom without limit',
    versions: '17 to 19; 16 to 19',
  },

  // Models that run code.
  {
    rule: 'code',
    models: ['ir.cron*', 'ir.qweb*', 'ir.demo*'],
    methods: ALL,
    why: 'scheduled code, the engine of templates',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: ['base.language.*', 'base.module.*', 'base.import.module'],
    methods: ALL,
    why: 'installs modules, or imports them',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: [
      'mail.compose.message',
      'account.invoice.send',
      'account.tour.upload.bill',
      'sms.composer',
      'whatsapp.composer',
    ],
    methods: ALL,
    why: 'renders templates for records of any model; forms that are such a message with more fields',
    versions: '14 to 19; `account.invoice.send` to 16; `account.tour.upload.bill` 14',
  },
  {
    rule: 'code',
    models: ALL,
    methods: [
      'message_post_with_view',
      'message_post_with_template',
      'message_post_with_source',
      'message_mail_with_source',
      'activity_schedule_with_view',
      'activity_send_mail',
      'qweb_render_view',
      'rating_send_request',
      'mail_attendees',
    ],
    why: 'renders a template or a view that the call names',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: [
      'ir.actions.*',
      'ir.server.object.lines',
      'ir.embedded.actions',
      'ir.module.*',
      'wizard.ir.model.menu.create',
    ],
    methods: 'writes',
    why: 'actions, which run code; modules',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: ['ir.model', 'ir.model.*', 'ir.access*', 'ir.exports.resolver'],
    methods: 'writes',
    why: 'fields with code; access rights and external ids are among the models too',
    versions: '14 to 19; `ir.access` after 19; OCA: jsonifier',
  },
  {
    rule: 'code',
    models: [
      'ir.ui.view*',
      'reset.view.arch.wizard',
      'mail.template*',
      'sms.template*',
      'whatsapp.template*',
      'digest.tip',
    ],
    methods: 'writes',
    why: 'templates with expressions',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: [
      'account_followup.manual_reminder',
      'appraisal.ask.feedback',
      'request.appraisal',
      'applicant.get.refuse.reason',
      'applicant.send.mail',
      'candidate.send.mail',
      'fleet.vehicle.send.mail',
      'calendar.popover.delete.wizard',
      'sale.order.cancel',
      'slide.channel.invite',
      'survey.invite',
    ],
    methods: 'writes',
    why: 'forms that render mail of the caller as a template',
    versions: '14 to 19, some of them Enterprise',
  },
  {
    rule: 'code',
    models: ['sale.order.alert', 'sale.subscription.alert'],
    methods: 'writes',
    why: 'automations of subscriptions: each is a `base.automation` with more fields',
    versions: 'Enterprise 14 to 16',
  },
  {
    rule: 'code',
    models: ['mailing.mailing*', 'marketing.*', 'card.template', 'card.campaign'],
    methods: 'writes',
    why: 'templates with expressions, sent to many',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: [
      'website',
      'website.page*',
      'website.controller.page',
      'website.menu',
      'website.rewrite',
      'website.snippet.filter',
      'website.design*',
      'theme.*',
      'ir.asset',
      'web_editor.assets',
      'html_editor.assets',
      'website.assets',
      'website.robots',
      'website.custom_blocked_third_party_domains',
    ],
    methods: 'writes',
    why: 'scripts in the head and foot of every page, in menus and in snippets; where pages lead; what themes copy there',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: ['product.document', 'quotation.document', 'mrp.document'],
    methods: 'writes',
    why: 'files that Odoo serves at its own address: each is an attachment with more fields, and not checked as one',
    versions: '17 to 19; quotations 18, 19; `mrp.document` 14 to 17',
  },
  {
    rule: 'code',
    models: ['account.tax', 'account.tax.template', 'gamification.goal.definition', 'hr.salary.rule*'],
    methods: 'writes',
    why: 'Python in a field',
    versions: '14 to 19',
  },
  {
    rule: 'code',
    models: ['web_studio.*', 'studio.*', 'ai.*'],
    methods: 'writes',
    why: 'creates fields, views and automations; agents that run server actions',
    versions: 'Enterprise 14 to 19',
  },
  {
    rule: 'code',
    models: ['report.account_test.report_accounttest'],
    methods: ['execute_code'],
    why: 'runs Python of the call',
    versions: '14, 15',
  },
  {
    rule: 'rights',
    models: ['crm.iap.lead.helpers'],
    methods: ALL,
    why: 'sets a system parameter that the call names, with all rights',
    versions: '14 to 18',
  },
  {
    rule: 'as_another',
    models: ['mail.message'],
    methods: ['create', 'write', 'unlink', 'copy', 'name_create', 'update', 'web_save', 'web_save_multi'],
    why: 'messages of any author, in any record with messages',
    versions: '14 to 19',
  },
  {
    rule: 'as_another',
    models: [
      'mail.tracking.value',
      'mail.notification',
      'mail.message.reaction',
      'mail.message.translation',
      'mail.link.preview',
      'mail.message.link.preview',
    ],
    methods: 'writes',
    why: 'what messages of any record show: who changed which field, who was told, reactions of others, translations and previews',
    versions: '14 to 19; reactions from 15, previews from 16, translations from 17 on',
  },
  {
    rule: 'as_another',
    models: ['mail.scheduled.message', 'mail.message.schedule', 'snailmail.letter'],
    methods: 'writes',
    why: 'messages that are sent later, of any author, in any record with messages',
    versions: '16 to 19; `mail.scheduled.message` 18, 19; `snailmail.letter` 14 to 19',
  },
  {
    rule: 'as_another',
    models: ['mail.group.message'],
    methods: 'writes',
    why: 'author, sender and text are those of its `mail.message`',
    versions: '15 to 19',
  },
  {
    rule: 'as_another',
    models: ['mail.group'],
    methods: ['message_post'],
    why: 'takes author and sender by position too',
    versions: '15 to 19',
  },
  {
    rule: 'as_another',
    models: ['pos.session'],
    methods: ['log_partner_message'],
    why: 'posts a message whose author the call names',
    versions: '17 to 19',
  },
  {
    rule: 'code',
    models: ['queue.job*', 'base.external.dbsource*', 'sql.export*', 'sql.file.wizard', 'bi.sql.view*'],
    methods: ALL,
    why: 'runs methods by their names, or SQL',
    versions: 'OCA: queue, server-backend, reporting-engine',
  },
  {
    rule: 'code',
    models: [
      'endpoint.*',
      'fastapi.endpoint',
      'exception.rule',
      'mis.report',
      'mis.report.kpi*',
      'mis.report.query',
      'xlsx.*',
    ],
    methods: 'writes',
    why: 'Python in a field, or which code answers web requests',
    versions: 'OCA: web-api, rest-framework, server-tools, mis-builder',
  },

  // Rights, and methods that reach records of any model.
  {
    rule: 'rights',
    models: ['res.groups*', 'ir.rule*', 'ir.ui.menu', 'project.collaborator'],
    methods: 'writes',
    why: 'groups, record rules, who sees which menu, and where it leads',
    versions: '14 to 19',
  },
  {
    rule: 'rights',
    models: ['ir.default', 'ir.property', 'ir.translation', 'mail.alias'],
    methods: 'writes',
    why: 'values in any model: defaults, properties, translations (of views and templates too), records that mail creates',
    versions: '14 to 19; `ir.property` to 17; `ir.translation` 14, 15',
  },
  {
    rule: 'rights',
    models: [
      'base.document.layout',
      'onboarding.onboarding.step',
      'snailmail.letter.format.error',
      'snailmail.letter.missing.required.fields',
      'snailmail.confirm*',
      'account.financial.year.op',
      'crm.lead.pls.update',
    ],
    methods: 'writes',
    why: 'settings of companies: the layout of documents, the first steps, which can install a chart of accounts, and letters',
    versions: '14 to 19; `onboarding.*` from 16 on; `snailmail.*` to 18',
  },
  {
    rule: 'rights',
    models: ['account.fiscal.position', 'account.chart.template', 'res.company'],
    methods: ['action_create_foreign_taxes', 'install_l10n_modules', 'try_loading'],
    why: 'installs modules and charts of accounts',
    versions: '14 to 19',
  },
  {
    rule: 'any_model',
    models: ALL,
    methods: ['get_attendee_detail', 'get_mention_suggestions', 'get_mention_suggestions_from_channel'],
    why: 'reads attendees, partners and members of channels that the call names',
    versions: '14 to 19',
  },
  {
    rule: 'any_model',
    models: ['base_import.*', 'base.partner.merge*', 'privacy.lookup*', 'bus.bus'],
    methods: ALL,
    why: 'imports, merges and looks up records of any model; messages to everybody',
    versions: '14 to 19',
  },
  {
    rule: 'any_model',
    models: ['data_recycle.*', 'data_merge.*', 'data_cleaning.*'],
    methods: 'writes',
    why: 'deletes, merges or changes records by a rule, of any model',
    versions: '16 to 19; Enterprise',
  },
  {
    rule: 'any_model',
    models: ['card.card'],
    methods: 'writes',
    why: 'shows the name of any record of the model of its campaign, whatever the user may read',
    versions: '18, 19',
  },
  {
    rule: 'any_model',
    models: ['pos.session'],
    methods: ['load_data*', 'load_pos_data', 'get_pos_ui_*', 'get_pos_data*', 'filter_local_data'],
    why: 'returns the data of a point of sale: users, partners, payment methods and more',
    versions: '15 to 19',
  },
  {
    rule: 'any_model',
    models: ALL,
    methods: [
      'find_or_create_record',
      'create_record_with_xmlid',
      'create_or_update_translations',
      'get_activity_data',
      'get_display_names_for_spreadsheet',
      'binary_content',
    ],
    why: 'the call names the model: creates or translates a record of it, searches in it, or shows names or files of its records',
    versions: '18, 19; 14 to 16; 14, 15; 14 to 19; 18, 19; 14, 15',
  },
  {
    rule: 'code',
    models: ['pos.config'],
    methods: ['install_*', 'load_onboarding_*'],
    why: 'installs modules and demo data',
    versions: '18, 19',
  },
  {
    rule: 'any_model',
    models: ALL,
    methods: ['get_new_partner', 'load_product_from_pos', 'load_sale_order_from_pos', 'read_pos_*'],
    why: 'returns records of other models that a point of sale needs: partners, prices, payments, invoices',
    versions: '18, 19',
  },
  {
    rule: 'any_model',
    models: ['pos.config'],
    methods: ['get_records', 'read_config_open_orders', 'notify_synchronisation'],
    why: 'the call names the models whose records it returns, or sends to other devices',
    versions: '18, 19',
  },
  {
    rule: 'any_model',
    models: ['auditlog.*', 'mass.editing.*', 'record.changeset*'],
    methods: ALL,
    why: 'earlier values of records of any model, or changes to them',
    versions: 'OCA: server-tools, server-ux',
  },
  {
    rule: 'related',
    models: ALL,
    // A copied record includes its lines.
    methods: ['mapped', 'copy_data'],
    why: 'follows paths: `user_ids.login`; a copy includes the lines of its record',
    versions: '14 to 19',
  },
];
