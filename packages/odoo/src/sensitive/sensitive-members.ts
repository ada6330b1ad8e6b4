/**
 * Fields through whose values a call changes records of sensitive models, as data: fields of Odoo Community 14 to 19
 * and of well-known modules. Contains no decisions.
 */

export interface SensitiveMember {
  /** Names of fields. A leading `*` matches any beginning. In a context, `default_x` counts as the field `x`. */
  members: readonly string[];
  /** The model that the field leads to. */
  model: string;
  /**
   * `lines`: a one2many field; records removed from it can be deleted.
   * `relation`: a many2many field; a link changes rights.
   * `reference`: a link (commands 3, 4, 5, 6) changes nothing in the linked record, so only commands 0, 1 and 2 count.
   * `linked`: a many2many field whose links are records of `model` themselves, such as followers.
   * `values`: a field whose value is stored in the other record, on any model; see also written-models.ts.
   * `free`: no command counts, but rows of the linked model apply to the values inside.
   */
  form: 'lines' | 'relation' | 'reference' | 'linked' | 'values' | 'free';
  /** If given, the row applies to these models only, and takes precedence over rows without it. */
  of?: readonly string[];
  why: string;
}

/** A member of a context that makes any method that creates records change records of another model. */
export interface SensitiveContextMember {
  name: string;
  model: string;
  method: string;
  /** The beginning of the names of the methods to which the row applies; absent: all methods. */
  methods?: string;
  /** The row does not apply to methods of the ORM, which create records of their own model. */
  isOfOthers?: true;
  /** If given, the row applies to calls of this model only. */
  of?: string;
  why: string;
}

/**
 * A named argument by which a method writes in the name of somebody else, or assigns something to somebody. Null, false
 * and "" count as omitted.
 */
export interface SensitiveArgument {
  names: readonly string[];
  /** Position among the positional arguments, including the ids; absent: the argument is always named. */
  position?: number;
  /** The beginning of the names of the methods that take the argument. */
  methods: string;
  model: string;
  method: 'create' | 'read' | 'write';
  why: string;
}

/**
 * Parameters of methods of mail_thread.py and mail_activity_mixin.py of Odoo 14 to 19, which take them by name only.
 * The method of `mail.group` takes them by position too: it is in sensitive-table.ts.
 */
export const SENSITIVE_ARGUMENTS: readonly SensitiveArgument[] = [
  {
    names: ['author_id', 'author_guest_id', 'email_from', 'reply_to', 'mail_server_id'],
    methods: 'message_',
    model: 'mail.mail',
    method: 'create',
    why: 'the message comes from another author or address; without it, from the Odoo user of the key',
  },
  {
    names: ['email_layout_xmlid', 'mail_headers'],
    methods: 'message_',
    model: 'mail.mail',
    method: 'create',
    why: 'the mail has the layout or the headers that the call names',
  },
  {
    names: ['outgoing_email_to'],
    methods: 'message_',
    model: 'mail.mail',
    method: 'create',
    why: 'the message is mailed to addresses of the call (19)',
  },
  {
    names: ['attachment_ids'],
    methods: 'message_',
    model: 'ir.attachment',
    method: 'read',
    why: 'the message has files of any record',
  },
  {
    names: ['res_model_id', 'res_model', 'res_id'],
    methods: 'activity_schedule',
    model: 'mail.activity',
    method: 'create',
    why: 'the activity is for another record, of any model',
  },
  {
    names: ['user_id'],
    methods: 'activity_schedule',
    model: 'mail.followers',
    method: 'write',
    why: 'the user gets the activity, and follows the record',
  },
  ...['partner_ids', 'channel_ids'].map((name, index) => ({
    names: [name],
    position: index + 1,
    methods: 'message_subscribe',
    model: 'mail.followers',
    method: 'write' as const,
    why: 'the partners, or up to 14 the channels, follow the record and get its messages',
  })),
  {
    names: ['new_user_id'],
    position: 4,
    methods: 'activity_reschedule',
    model: 'mail.followers',
    method: 'write',
    why: 'the user gets the activities, and follows the record',
  },
];

/**
 * What context-effects-data.ts has not. Odoo 14 to 19 reads the first two in ir_fields.py, and the others when a method
 * creates a record.
 */
export const SENSITIVE_CONTEXT: readonly SensitiveContextMember[] = [
  {
    name: 'name_create_enabled_fields',
    model: 'res.users',
    method: 'create',
    why: '`load` creates each record that it does not find by name. A user created this way is invited by mail',
  },
  {
    name: '_import_current_module',
    model: 'ir.model.data',
    method: 'write',
    why: 'the value of `id` becomes the external id of the new record, even if another record has it',
  },
  ...['default_login', 'default_password', 'default_new_password'].map((name) => ({
    name,
    model: 'res.users',
    method: 'create' as const,
    why: 'a user whom the call creates, on whatever model, can sign in with it',
  })),
  {
    name: 'default_code',
    model: 'ir.actions.server',
    method: 'create',
    why: 'a server or scheduled action that the call creates, on whatever model, runs it',
  },
  {
    name: 'form_view_ref',
    of: 'sale.order.line',
    model: 'sale.order',
    method: 'create',
    why: 'in calls of `sale.order.line`: with the name of a certain form, Odoo creates an order (18, 19)',
  },
  {
    name: 'mark_so_as_sent',
    model: 'sale.order',
    method: 'action_quotation_sent',
    why: 'a message of the call marks the order as sent, as that method does',
  },
  {
    name: 'mark_rfq_as_sent',
    model: 'purchase.order',
    method: 'print_quotation',
    why: 'a message of the call marks the order as sent, as that method does',
  },
  {
    name: 'skip_readonly_check',
    model: 'account.move',
    method: 'button_draft',
    why: 'a posted invoice takes other lines, another partner or another date, as after that method (18, 19)',
  },
  {
    name: 'force_delete',
    model: 'account.move',
    method: 'button_draft',
    why: 'posted entries are deleted, as after that method',
  },
  {
    name: 'import_file',
    of: 'account.account',
    model: 'account.move',
    method: 'action_post',
    why: 'in calls of `account.account`: `load` posts the opening entry (16)',
  },
  {
    name: 'import_file',
    of: 'stock.quant',
    model: 'stock.lot',
    method: 'create',
    why: 'in calls of `stock.quant`: a new quantity creates its lot (18, 19)',
  },
  {
    name: 'create_from_website',
    model: 'website',
    method: 'write',
    why: 'a new channel of a live chat becomes that of the website (19)',
  },
  ...['default_public', 'default_url'].map((name) => ({
    name,
    model: 'ir.attachment',
    method: 'create' as const,
    why: 'a file that the call stores can be read without a login, or is served at an address of its choice (14 to 17)',
  })),
  ...['default_partner_email', 'default_partner_phone', 'default_work_email'].map((name) => ({
    name,
    model: 'res.partner',
    method: 'write' as const,
    why: 'changes the contact of a task or an employee that the call creates, on whatever model',
  })),
  ...['default_email_from', 'default_phone'].map((name) => ({
    name,
    model: 'res.partner',
    method: 'write' as const,
    isOfOthers: true as const,
    why: 'changes the contact of a lead that a method of business logic creates, on whatever model',
  })),
  ...SENSITIVE_ARGUMENTS.flatMap(({ names, methods, model, method, why }) =>
    names.map((name) => ({ name: `default_${name}`, methods, model, method, why })),
  ),
];

export const SENSITIVE_MEMBERS: readonly SensitiveMember[] = [
  // Fields with this meaning on some models only.
  {
    members: ['user_ids'],
    model: 'res.users',
    form: 'reference',
    of: ['digest.digest', 'project.task', 'im_livechat.channel', 'gamification.challenge'],
    why: 'users to whom the record is assigned',
  },
  {
    members: ['member_ids'],
    model: 'res.users',
    form: 'reference',
    of: ['crm.team', 'maintenance.team', 'helpdesk.team', 'quality.alert.team'],
    why: 'members of a team',
  },
  {
    members: ['user_ids'],
    model: 'portal.wizard.user',
    form: 'lines',
    of: ['portal.wizard'],
    why: 'invitations',
  },
  {
    members: ['user_ids'],
    model: 'change.password.user',
    form: 'lines',
    of: ['change.password.wizard'],
    why: 'passwords',
  },
  {
    members: ['rule_ids'],
    model: 'hr.salary.rule',
    form: 'reference',
    of: ['hr.payroll.structure'],
    why: 'rules with Python in a field',
  },
  {
    members: ['child_ids', 'depend_on_ids', 'dependent_ids'],
    model: 'project.task',
    form: 'free',
    of: ['project.task'],
    why: 'tasks, which have users assigned',
  },
  {
    members: ['task_ids', 'tasks'],
    model: 'project.task',
    form: 'free',
    of: ['project.project', 'project.milestone'],
    why: 'tasks, which have users assigned',
  },
  {
    members: ['struct_ids'],
    model: 'hr.payroll.structure',
    form: 'free',
    of: ['hr.payroll.structure.type'],
    why: 'structures, which have rules',
  },

  {
    members: ['channel_partner_ids'],
    model: 'discuss.channel.member',
    form: 'linked',
    of: ['discuss.channel'],
    why: 'members of a channel, who may read it (17 to 19)',
  },
  {
    members: ['channel_partner_ids'],
    model: 'mail.channel.member',
    form: 'linked',
    of: ['mail.channel'],
    why: 'members of a channel, who may read it (to 16; `mail.channel.partner` to 15)',
  },

  // A member among the values of properties.
  {
    members: ['definition_changed', 'definition_deleted'],
    model: 'ir.model.fields',
    form: 'values',
    why: 'changes which properties all records of a parent have',
  },

  // Users and groups.
  {
    members: ['user_ids', 'users', 'all_user_ids'],
    model: 'res.users',
    form: 'relation',
    why: 'users of a partner, a company or a group (`users` of a group up to 18)',
  },
  {
    members: [
      '*user_ids',
      'user_consumed_ids',
      'moderator_ids',
      'interviewer_ids',
      'extended_interviewer_ids',
      'responsible_ids',
    ],
    model: 'res.users',
    form: 'reference',
    why: 'users to whom something is assigned, who may see it or like it',
  },
  {
    members: [
      'groups_id',
      'group_ids',
      'groups',
      'groups_ids',
      'all_group_ids',
      'implied_ids',
      'implied_by_ids',
      'trans_implied_ids',
      'all_implied_ids',
      'all_implied_by_ids',
      'enroll_group_ids',
      'upload_group_ids',
      'read_group_ids',
    ],
    model: 'res.groups',
    form: 'relation',
    why: 'groups of a user, a view, a menu, a rule or a channel (`groups_id` up to 18, `group_ids` in 19)',
  },
  {
    members: ['signup_token', 'signup_type', 'signup_expiration'],
    model: 'res.users',
    form: 'values',
    why: 'the link by which a partner sets the password of a user (`signup_token` up to 17)',
  },
  {
    members: ['role_line_ids'],
    model: 'res.users.role.line',
    form: 'lines',
    why: 'roles of a user (OCA)',
  },
  {
    members: ['collaborator_ids'],
    model: 'project.collaborator',
    form: 'lines',
    why: 'portal users who may change a project',
  },

  // Credentials.
  {
    members: ['*api_key_ids', '*apikey_ids'],
    model: 'res.users.apikeys',
    form: 'lines',
    why: 'API keys of a user',
  },
  {
    members: ['auth_api_key_ids'],
    model: 'auth.api.key',
    form: 'lines',
    why: 'API keys (OCA)',
  },
  {
    members: ['totp_trusted_device_ids'],
    model: 'auth_totp.device',
    form: 'lines',
    why: 'trusted devices of a user',
  },
  {
    members: ['auth_passkey_key_ids'],
    model: 'auth.passkey.key',
    form: 'lines',
    why: 'passkeys of a user',
  },
  {
    members: ['saml_ids'],
    model: 'res.users.saml',
    form: 'lines',
    why: 'who vouches for a user (OCA)',
  },
  {
    members: ['authenticator_ids'],
    model: 'res.users.authenticator',
    form: 'lines',
    why: 'second factors of a user (OCA)',
  },
  {
    members: ['u2f_device_ids'],
    model: 'u2f.device',
    form: 'lines',
    why: 'second factors of a user (OCA)',
  },
  {
    members: ['res_users_settings_ids'],
    model: 'res.users.settings',
    form: 'lines',
    why: 'tokens of calendars of a user',
  },
  {
    members: ['ldaps'],
    model: 'res.company.ldap',
    form: 'lines',
    why: 'directories whose users sign in',
  },
  {
    members: ['payment_token_ids'],
    model: 'payment.token',
    form: 'lines',
    why: 'saved cards of a partner',
  },
  {
    members: ['provider_ids', 'payment_provider_ids'],
    model: 'payment.provider',
    form: 'reference',
    why: 'payment providers with their keys',
  },
  {
    members: ['acquirer_ids', 'payment_acquirer_ids'],
    model: 'payment.acquirer',
    form: 'reference',
    why: 'payment providers with their keys, up to 15',
  },
  {
    members: ['*payment_method_ids'],
    model: 'pos.payment.method',
    form: 'reference',
    why: 'payment terminals with their keys',
  },
  {
    members: ['auth_partner_ids'],
    model: 'auth.partner',
    form: 'lines',
    why: 'sign-ins of a partner, with their passwords (OCA)',
  },
  {
    members: ['*carrier_ids'],
    model: 'delivery.carrier',
    form: 'reference',
    why: 'carriers with their keys',
  },
  {
    members: ['account_edi_proxy_client_ids'],
    model: 'account_edi_proxy_client.user',
    form: 'lines',
    why: 'keys of electronic invoices',
  },
  {
    members: ['l10n_es_edi_certificate_ids'],
    model: 'l10n_es_edi.certificate',
    form: 'lines',
    why: 'certificates of electronic invoices, up to 17',
  },
  {
    members: ['*_certificate_ids'],
    model: 'certificate.certificate',
    form: 'lines',
    why: 'certificates with their keys',
  },

  // Rights.
  { members: ['model_access'], model: 'ir.model.access', form: 'lines', why: 'access rights of a group' },
  { members: ['rule_groups'], model: 'ir.rule', form: 'relation', why: 'record rules of a group' },
  { members: ['menu_access'], model: 'ir.ui.menu', form: 'relation', why: 'menus of a group' },

  // Code.
  {
    members: ['view_access', 'inherit_children_ids'],
    model: 'ir.ui.view',
    form: 'relation',
    why: 'views of a group; views that extend a view',
  },
  {
    members: ['*action_server_ids', '*server_action_ids'],
    model: 'ir.actions.server',
    form: 'lines',
    why: 'server actions',
  },
  {
    members: ['fields_lines'],
    model: 'ir.server.object.lines',
    form: 'lines',
    why: 'values that a server action computes, up to 16',
  },
  {
    members: ['embedded_action_ids'],
    model: 'ir.embedded.actions',
    form: 'lines',
    why: 'actions within a view',
  },
  {
    members: ['automation_ids', 'base_automation_ids', 'automated_action_ids'],
    model: 'base.automation',
    form: 'lines',
    why: 'automations',
  },
  { members: ['*cron_ids'], model: 'ir.cron', form: 'relation', why: 'scheduled actions' },
  {
    members: ['trigger_field_ids', 'on_change_field_ids', 'webhook_field_ids'],
    model: 'ir.model.fields',
    form: 'reference',
    why: 'fields, which can hold code',
  },
  {
    members: ['main_data_model_ids'],
    model: 'ir.model',
    form: 'reference',
    why: 'models that a dashboard shows',
  },
  {
    members: ['*product_document_ids'],
    model: 'product.document',
    form: 'reference',
    why: 'files of a product, which Odoo serves at its own address',
  },
  {
    members: ['*quotation_document_ids'],
    model: 'quotation.document',
    form: 'reference',
    why: 'files of a quotation, which Odoo serves at its own address',
  },
  {
    members: ['mail_template_ids'],
    model: 'mail.template',
    form: 'reference',
    why: 'templates with expressions',
  },
  {
    members: ['mailing_mail_ids', 'mailing_sms_ids', 'mailing_ids'],
    model: 'mailing.mailing',
    form: 'reference',
    why: 'templates with expressions, sent to many',
  },
  {
    members: ['controller_page_ids'],
    model: 'website.controller.page',
    form: 'lines',
    why: 'pages of a view',
  },
  {
    members: ['tax_id', '*tax_ids', '*taxes_id'],
    model: 'account.tax',
    form: 'reference',
    why: 'taxes, which can hold Python; choosing taxes is free',
  },
  {
    members: ['tax_template_ids'],
    model: 'account.tax.template',
    form: 'lines',
    why: 'taxes of a chart of accounts, which can hold Python, up to 16',
  },
  { members: ['kpi_ids'], model: 'mis.report.kpi', form: 'lines', why: 'Python in a field (OCA)' },

  // Mail.
  {
    members: ['fetchmail_server_ids'],
    model: 'fetchmail.server',
    form: 'lines',
    why: 'servers of incoming mail, with their passwords',
  },
  {
    members: ['*mail_server_ids'],
    model: 'ir.mail_server',
    form: 'lines',
    why: 'mail servers with their passwords',
  },
  {
    members: ['message_ids'],
    model: 'mail.message',
    form: 'lines',
    why: 'messages of a record, with any author',
  },
  {
    members: ['tracking_value_ids'],
    model: 'mail.tracking.value',
    form: 'lines',
    why: 'changes of fields that a message shows. Odoo describes the field to administrators only, and sets it for all',
  },
  {
    members: ['reaction_ids'],
    model: 'mail.message.reaction',
    form: 'lines',
    why: 'reactions to a message, of any partner; described like `tracking_value_ids`',
  },
  {
    members: ['link_preview_ids'],
    model: 'mail.link.preview',
    form: 'lines',
    why: 'what a message shows of a link; described like `tracking_value_ids`',
  },
  {
    members: ['message_follower_ids'],
    model: 'mail.followers',
    form: 'lines',
    why: 'followers, who get the messages of a record',
  },
  {
    members: ['message_partner_ids', 'message_channel_ids'],
    model: 'mail.followers',
    form: 'linked',
    why: 'followers, by their partners, or by their channels up to 14',
  },
  {
    members: ['activity_ids'],
    model: 'mail.activity',
    form: 'lines',
    why: 'activities, of which Odoo tells the users to whom they are assigned',
  },
  {
    members: ['access_token'],
    model: 'portal.share',
    form: 'values',
    why: 'who knows the token opens the page of the record without a login, and sees fields that a policy denies',
  },
  {
    members: ['activity_user_id', 'activity_type_id', 'activity_summary'],
    model: 'mail.activity',
    form: 'values',
    why: 'kept in the next activity of a record, and written there',
  },
  { members: ['mail_ids'], model: 'mail.mail', form: 'lines', why: 'mail to be sent' },
  { members: ['alias_ids'], model: 'mail.alias', form: 'lines', why: 'aliases' },
  {
    members: [
      'alias_name',
      'alias_defaults',
      'alias_contact',
      'alias_model_id',
      'alias_user_id',
      'alias_force_thread_id',
      'alias_parent_model_id',
      'alias_parent_thread_id',
      'alias_domain_id',
      'alias_incoming_local',
      'alias_bounced_content',
    ],
    model: 'mail.alias',
    form: 'values',
    why: 'kept in the alias of a team, a project or a journal, and written there with all rights',
  },
];
