/**
 * Calls with which keys reached more than their policies name, on real servers. The policy must refuse each call, and
 * must still allow what it is for.
 */
import type { Policy } from '@erp-proxy/contract';
import { listCredentialFields } from '@erp-proxy/odoo/sensitive';
import { isDenied, type KeyCall, type Target } from './target.ts';

export interface Attack {
  name: string;
  /** First and last major version of Odoo that has the models of the attack. Default: 14 to 19. */
  versions?: readonly [number, number];
  /** Describes what got through; null: nothing. `absent`: the server lacks a module. */
  run(target: Target): Promise<string | 'absent' | null>;
}

type Call = readonly [action: string, model: string, params: readonly unknown[], keyword?: object];

interface RefusedCalls {
  name: string;
  versions?: Attack['versions'];
  policy: Omit<Policy, 'origins'>;
  /** The model that must be installed for these calls. */
  needs?: string;
  /** Calls that must be allowed, to show that the policy does not refuse everything. */
  allowed?: readonly Call[] | ((target: Target) => Promise<readonly Call[]>);
  /** Calls that the policy must deny. */
  refused: readonly Call[] | ((target: Target) => Promise<readonly Call[]>);
}

const LEAD = { 'crm.lead': ['*'] };
const PASSWORD = { default_login: 'attack', default_password: 'attack-1', default_name: 'attack' };

/** Values of an event in the future, for which Odoo sends invitations. */
function event(values: object = {}): object {
  return { name: 'attack', start: '2099-01-01 10:00:00', stop: '2099-01-01 11:00:00', ...values };
}

/** The field of a notification that leads to its mail. */
function nameMail(version: number): string {
  return version < 15 ? 'mail_id' : 'mail_mail_id';
}

const REFUSED: readonly RefusedCalls[] = [
  {
    name: 'find_or_create_record creates records of any model',
    versions: [18, 19],
    policy: { models: LEAD },
    needs: 'crm.lead',
    allowed: [
      ['search_read', 'crm.lead', [[], ['name']], { limit: 1 }],
      ['create', 'crm.lead', [{ name: 'attack' }]],
    ],
    refused: [
      'res.users',
      'ir.cron',
      'ir.config_parameter',
      'res.groups',
      'mail.template',
      'res.company',
      'utm.source',
    ].map((model) => ['find_or_create_record', 'crm.lead', [model, 'attack'], { context: PASSWORD }]),
  },
  {
    name: 'a method that no table knows is not part of *',
    policy: { models: LEAD },
    needs: 'crm.lead',
    refused: [
      ['x_sync', 'crm.lead', [[1]]],
      ['action_of_nobody', 'crm.lead', []],
    ],
  },
  {
    name: 'a copy of a lead changes the email of a contact',
    policy: { models: LEAD },
    needs: 'crm.lead',
    refused: async ({ odoo }) => {
      const id = await odoo('crm.lead', 'create', [{ name: 'attack', email_from: 'attack@example.com' }]);
      const other = await odoo('crm.lead', 'create', [{ name: 'attack' }]);
      return [
        ['copy', 'crm.lead', [id, { partner_id: 3 }]],
        ['copy', 'crm.lead', [id], { context: { default_partner_id: 3 } }],
        ['merge_opportunity', 'crm.lead', [[id, other]]],
      ] as const;
    },
  },
  {
    name: 'methods of the web client and of the point of sale reach more than records of the call',
    policy: {
      models: {
        'calendar.event': ['*'],
        'hr.employee': ['*'],
        'mail.message': ['*'],
        'pos.order': ['*'],
        'product.product': ['*'],
      },
    },
    needs: 'hr.employee',
    refused: [
      ['action_join_meeting', 'calendar.event', [[1], 3]],
      ['web_resequence', 'hr.employee', [[1], {}], { field_name: 'leave_manager_id', offset: 2 }],
      ['get_avatar_card_data', 'hr.employee', [[1], ['pin']]],
      ['get_barcodes_and_pin_hashed', 'hr.employee', [[1]]],
      ['mark_all_as_read', 'mail.message', [[['author_id.email', '=like', 'a%']]]],
      ['search_paid_order_ids', 'pos.order', [1, [['create_uid.login', '=like', 'a%']], 80, 0]],
      ['get_product_info_pos', 'product.product', [[1], 1, 1, 1]],
    ],
  },
  {
    name: 'the title of a task makes tags and assigns users',
    versions: [17, 19],
    policy: { models: { 'project.task': ['*'] } },
    needs: 'project.task',
    allowed: [['create', 'project.task', [{ name: 'attack #attack' }]]],
    refused: async ({ odoo }) => {
      const id = await odoo('project.task', 'create', [{ name: 'attack' }]);
      return [
        ['create', 'project.task', [{ name: 'attack', display_name: 'attack #attack @admin' }]],
        ['write', 'project.task', [[id], { display_name: 'attack #attack @admin' }]],
        ['write', 'project.task', [[id], { child_ids: [[0, 0, { display_name: 'attack @admin' }]] }]],
        ['load', 'project.task', [['name', 'display_name'], [['attack', 'attack #attack']]]],
        ['web_save', 'project.task', [[id], { display_name: 'attack @admin' }, {}]],
        ['copy', 'project.task', [[id], { display_name: 'attack @admin' }]],
        [
          'create',
          'project.task',
          [{ name: 'attack' }],
          { context: { default_display_name: 'attack @admin' } },
        ],
      ] as const;
    },
  },
  {
    name: 'a token that the call chooses opens the page of a record',
    policy: { models: { 'sale.order': ['*'] } },
    needs: 'sale.order',
    refused: async ({ odoo }) => {
      const id = await odoo('sale.order', 'create', [{ partner_id: 1 }]);
      return [
        ['write', 'sale.order', [[id], { access_token: 'attack' }]],
        ['create', 'sale.order', [{ partner_id: 1, access_token: 'attack' }]],
        ['copy', 'sale.order', [[id], { access_token: 'attack' }]],
        ['create', 'sale.order', [{ partner_id: 1 }], { context: { default_access_token: 'attack' } }],
      ] as const;
    },
  },
  {
    name: 'the context of a confirmation sends mail',
    policy: { models: { 'sale.order': ['create', 'action_confirm'] } },
    needs: 'sale.order',
    refused: async ({ odoo }) => {
      const id = await odoo('sale.order', 'create', [{ partner_id: 1 }]);
      return [['action_confirm', 'sale.order', [[id]], { context: { send_email: true } }]];
    },
  },
  {
    name: 'a user to whom a record is assigned gets mail and follows it',
    policy: { models: LEAD },
    needs: 'crm.lead',
    allowed: [['create', 'crm.lead', [{ name: 'attack', user_id: false }]]],
    refused: async ({ odoo }) => {
      const id = await odoo('crm.lead', 'create', [{ name: 'attack' }]);
      return [
        ['write', 'crm.lead', [[id], { user_id: 1 }]],
        ['create', 'crm.lead', [{ name: 'attack', user_id: 1 }]],
        ['copy', 'crm.lead', [id, { user_id: 1 }]],
        ['load', 'crm.lead', [['name', 'user_id/.id'], [['attack', '1']]]],
        ['create', 'crm.lead', [{ name: 'attack' }], { context: { default_user_id: 1 } }],
      ] as const;
    },
  },
  {
    name: 'a member of the context applies quantities, or finishes transfers that it names',
    policy: { models: { 'stock.picking': ['button_validate'], 'stock.quant': ['*'] } },
    needs: 'stock.quant',
    refused: [
      [
        'action_set_inventory_quantity_zero',
        'stock.quant',
        [[1]],
        { context: { inventory_report_mode: true } },
      ],
      ['button_validate', 'stock.picking', [[1]], { context: { picking_ids_not_to_backorder: [2] } }],
    ],
  },
  {
    name: 'the value of a stock shows the cost of the product',
    versions: [16, 18],
    policy: {
      models: { 'product.*': ['read', 'search_read'] },
      fields: { 'product.*': { deny: ['standard_price'] } },
    },
    needs: 'stock.valuation.layer',
    allowed: [['search_read', 'product.product', [[], ['name', 'qty_available']], { limit: 1 }]],
    refused: ['avg_cost', 'total_value', 'value_svl'].map((field) => [
      'read',
      'product.product',
      [[1], [field]],
    ]),
  },
  {
    name: 'a message shows changes that the call makes up',
    policy: { models: { 'res.partner': ['read', 'message_post'] } },
    needs: 'mail.tracking.value',
    allowed: [['message_post', 'res.partner', [[1]], { body: 'attack' }]],
    refused: [
      [
        'message_post',
        'res.partner',
        [[1]],
        { body: 'attack', tracking_value_ids: [[0, 0, { field_desc: 'attack', new_value_char: 'attack' }]] },
      ],
    ],
  },
  {
    name: 'get_activity_data reads any model',
    policy: { models: { 'mail.activity': ['*'] } },
    needs: 'mail.activity',
    refused: [['get_activity_data', 'mail.activity', ['res.partner', [['email', 'like', 'a']]]]],
  },
  {
    name: 'get_display_names_for_spreadsheet reads any model',
    versions: [18, 19],
    policy: { models: { 'res.currency': ['*'] } },
    allowed: [['search_read', 'res.currency', [[], ['name']], { limit: 1 }]],
    refused: [['get_display_names_for_spreadsheet', 'res.currency', [[{ model: 'res.users', id: 2 }]]]],
  },
  {
    name: 'rating_send_request renders a template of the call',
    versions: [17, 19],
    policy: { models: { 'project.task': ['*'] } },
    needs: 'project.task',
    refused: [['rating_send_request', 'project.task', [[1], 1]]],
  },
  {
    name: 'partners of a message follow the record by the context',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'mail.message',
    allowed: [['message_post', 'res.partner', [[1]], { body: 'attack' }]],
    refused: [
      [
        'message_post',
        'res.partner',
        [[1]],
        { body: 'attack', partner_ids: [3], context: { mail_post_autofollow: true } },
      ],
    ],
  },
  {
    name: 'the context of a new order confirms it, or changes a project or a task',
    versions: [18, 19],
    policy: { models: { 'sale.order': ['create', 'read'], 'sale.order.line': ['create', 'read'] } },
    needs: 'sale.order',
    allowed: [['create', 'sale.order', [{ partner_id: 3 }]]],
    refused: [
      ['create', 'sale.order', [{ partner_id: 3 }], { context: { create_for_project_id: 1 } }],
      ['create', 'sale.order', [{ partner_id: 3 }], { context: { create_for_task_id: 1 } }],
      ['create', 'sale.order', [{ partner_id: 3 }], { context: { create_for_employee_mapping: true } }],
      ['create', 'sale.order.line', [{ order_id: 1, name: 'attack' }], { context: { link_to_project: 1 } }],
    ],
  },
  {
    name: 'names show fields of models that the policy does not name',
    policy: { models: { 'stock.picking': ['*'] } },
    needs: 'stock.picking',
    allowed: [['search_read', 'stock.picking', [[], ['name']], { limit: 1 }]],
    refused: ['show_total_amount', 'name_as_amount_total', 'with_price_unit'].map((member) => [
      'search_read',
      'stock.picking',
      [[], ['display_name']],
      { limit: 1, context: { [member]: true } },
    ]),
  },
  {
    name: 'a domain in the context searches by fields of other models',
    versions: [19, 19],
    policy: { models: { 'product.product': ['*'] } },
    needs: 'product.supplierinfo',
    allowed: [['search_count', 'product.product', [[]]]],
    refused: [
      [
        'search_count',
        'product.product',
        [[['id', '>', 0]]],
        { context: { suggest_domain: [['seller_ids.price', '>', 0]] } },
      ],
    ],
  },
  {
    name: 'a post of a blog publishes a script',
    policy: { models: { 'blog.*': ['*'] } },
    needs: 'blog.post',
    allowed: [['search_count', 'blog.post', [[]]]],
    refused: [
      ['create', 'blog.post', [{ name: 'attack', content: '<script>alert(1)</script>' }]],
      ['write', 'blog.blog', [[1], { content: '<script>alert(1)</script>' }]],
    ],
  },
  {
    name: 'an attachment becomes the image of a contact',
    policy: { models: { 'ir.attachment': ['*'], 'res.partner': ['read'] } },
    allowed: [['create', 'ir.attachment', [{ name: 'attack', res_model: 'res.partner', res_id: 3 }]]],
    refused: [
      [
        'create',
        'ir.attachment',
        [{ name: 'attack', res_model: 'res.partner', res_id: 3, res_field: 'image_1920' }],
      ],
    ],
  },
  {
    name: 'a channel gets members, who may read it',
    versions: [17, 19],
    policy: { models: { 'discuss.channel': ['*'], 'res.partner': ['read'] } },
    needs: 'discuss.channel',
    allowed: [['search_read', 'discuss.channel', [[], ['name']], { limit: 1 }]],
    refused: [['create', 'discuss.channel', [{ name: 'attack', channel_partner_ids: [[4, 3]] }]]],
  },
  {
    name: 'a denied wage of employees under another name',
    versions: [19, 19],
    policy: { models: { 'hr.employee': ['read'] }, fields: { 'hr.employee': { deny: ['wage'] } } },
    needs: 'hr.version',
    allowed: [['read', 'hr.employee', [[1], ['name']]]],
    refused: [['read', 'hr.employee', [[1], ['contract_wage']]]],
  },
  {
    name: 'a denied description of tasks in its history',
    versions: [18, 19],
    policy: { models: { 'project.task': ['read'] }, fields: { 'project.task': { deny: ['description'] } } },
    needs: 'project.task',
    allowed: [['read', 'project.task', [[1], ['name']]]],
    refused: [['read', 'project.task', [[1], ['html_field_history']]]],
  },
  {
    name: 'message_post takes the author of the call',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'mail.message',
    allowed: [['message_post', 'res.partner', [[1]], { body: 'attack' }]],
    refused: [
      ['message_post', 'res.partner', [[1]], { body: 'attack', author_id: 3 }],
      ['message_post', 'res.partner', [[1]], { body: 'attack', email_from: 'a@example.com' }],
      ['message_post', 'res.partner', [[1]], { body: 'attack', context: { default_author_id: 3 } }],
      ['message_notify', 'res.partner', [[1]], { body: 'attack', partner_ids: [3], author_id: 3 }],
    ],
  },
  {
    name: 'what belongs to messages of other records is forged',
    policy: { models: { 'mail.*': ['*'] } },
    allowed: [['search_read', 'mail.tracking.value', [[], ['id']], { limit: 1 }]],
    refused: async ({ odoo, version }) => {
      const [id] = await odoo('mail.message', 'search', [[['model', '=', 'res.partner']]], { limit: 1 });
      const [field] = await odoo('ir.model.fields', 'search', [[['model', '=', 'res.partner']]], {
        limit: 1,
      });
      const named = version < 17 ? { field, field_desc: 'attack', field_type: 'char' } : { field_id: field };
      return [
        ['create', 'mail.tracking.value', [{ mail_message_id: id, new_value_char: 'attack', ...named }]],
        ['create', 'mail.notification', [{ mail_message_id: id, res_partner_id: 3 }]],
        ['create', 'mail.message.reaction', [{ message_id: id, partner_id: 3, content: 'a' }]],
      ] as const;
    },
  },
  {
    name: 'message_post sends files, layouts and mails of the call',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'mail.message',
    refused: [
      ['message_post', 'res.partner', [[1]], { body: 'attack', attachment_ids: [1] }],
      ['message_post', 'res.partner', [[1]], { body: 'attack', outgoing_email_to: 'a@example.com' }],
      ['message_post', 'res.partner', [[1]], { body: 'attack', email_layout_xmlid: 'web.login' }],
      ['message_post', 'res.partner', [[1]], { body: 'attack', context: { default_public: true } }],
    ],
  },
  {
    name: 'wizards change payment, share documents and make activities',
    policy: {
      models: { 'sale.*': ['*'], 'task.*': ['*'], 'calendar.event': ['*'], 'account.journal': ['*'] },
    },
    needs: 'sale.order',
    refused: [
      ['create', 'sale.payment.provider.onboarding.wizard', [{ payment_method: 'manual' }]],
      ['create', 'task.share.wizard', [{ res_model: 'project.task', res_id: 1 }]],
      ['create', 'calendar.event', [{ name: 'attack', res_model: 'res.users', res_id: 2 }]],
      ['write', 'account.journal', [[1], { bank_acc_number: 'attack' }]],
    ],
  },
  {
    name: 'members of a context create users',
    policy: { models: { 'res.partner': ['*'] } },
    refused: [
      ['create', 'res.partner', [{ name: 'attack', user_ids: [[0, 0, { login: 'attack' }]] }]],
      ['create', 'res.partner', [{ name: 'attack', user_ids: [[0, 0, {}]] }], { context: PASSWORD }],
      ['create', 'res.partner', [{ name: 'attack' }], { context: PASSWORD }],
      [
        'create',
        'res.partner',
        [{ name: 'attack' }],
        { context: { default_user_ids: [[0, 0, { login: 'attack' }]] } },
      ],
    ],
  },
  {
    name: 'a link in a default takes a record away from another one',
    policy: { models: LEAD },
    needs: 'crm.lead',
    allowed: [['create', 'crm.lead', [{ name: 'attack' }], { context: { default_type: 'lead' } }]],
    refused: [
      ['create', 'crm.lead', [{ name: 'attack' }], { context: { default_bank_ids: [[4, 1]] } }],
      ['action_set_lost', 'crm.lead', [[1]], { context: { default_bank_account_ids: [1] } }],
    ],
  },
  {
    name: 'methods of wizards and employees change users, bank accounts and aliases',
    policy: { models: { 'hr.*': ['*'], 'account.setup.bank.manual.config': ['*'] } },
    needs: 'hr.recruitment.source',
    allowed: [['search_read', 'hr.employee', [[], ['name']], { limit: 1 }]],
    refused: [
      ['action_toggle_primary_bank_account_trust', 'hr.employee', [[1]]],
      ['action_register_departure', 'hr.departure.wizard', [[1]]],
      ['create_alias', 'hr.recruitment.source', [[1]]],
      ['create', 'account.setup.bank.manual.config', [{ acc_number: 'attack' }]],
    ],
  },
  {
    name: 'an activity is assigned to a user',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'mail.activity',
    refused: [
      ['activity_schedule', 'res.partner', [[1]], { summary: 'attack', user_id: 2 }],
      ['activity_schedule', 'res.partner', [[1]], { summary: 'attack', context: { default_user_id: 2 } }],
      ['activity_reschedule', 'res.partner', [[1], [], false, false, 2]],
    ],
  },
  {
    name: 'members lead to users, actions, models and access rights',
    policy: {
      models: { 'web_tour.tour': ['*'], 'spreadsheet.dashboard': ['*'], 'report.paperformat': ['*'] },
    },
    refused: async ({ has, version }) => [
      [
        'create',
        'report.paperformat',
        [{ name: 'attack', report_ids: [[0, 0, { name: 'attack', model: 'res.users', report_name: 'a' }]] }],
      ],
      ...((await has('web_tour.tour')) && version >= 18
        ? [
            [
              'create',
              'web_tour.tour',
              [{ name: 'attack', user_consumed_ids: [[0, 0, { name: 'attack', login: 'attack' }]] }],
            ] as const,
          ]
        : []),
      ...((await has('spreadsheet.dashboard')) && version >= 18
        ? [
            [
              'create',
              'spreadsheet.dashboard',
              [
                {
                  name: 'attack',
                  dashboard_group_id: 1,
                  main_data_model_ids: [[0, 0, { name: 'attack', model: 'x_attack' }]],
                },
              ],
            ] as const,
          ]
        : []),
    ],
  },
  {
    name: 'moderators of a channel',
    versions: [14, 14],
    policy: { models: { 'mail.channel': ['*'] } },
    needs: 'mail.channel',
    refused: [['create', 'mail.channel', [{ name: 'attack', moderator_ids: [[0, 0, { login: 'attack' }]] }]]],
  },
  {
    name: 'addresses of a team and a project run code and create records',
    policy: { models: { 'crm.team': ['*'], 'project.project': ['*'] } },
    needs: 'crm.team',
    refused: [
      ['create', 'crm.team', [{ name: 'attack', alias_defaults: "{'user_id': 2}" }]],
      ['create', 'project.project', [{ name: 'attack', alias_defaults: '{}' }]],
    ],
  },
  {
    name: 'an order reaches its deliveries and its followers',
    policy: { models: { 'sale.order': ['*'], 'sale.order.line': ['*'] } },
    needs: 'sale.order',
    allowed: async ({ odoo }) => {
      const [id] = await odoo('sale.order', 'search', [[['state', '=', 'draft']]], { limit: 1 });
      return [
        [
          'write',
          'sale.order',
          [[id], { order_line: [[0, 0, { display_type: 'line_note', name: 'attack' }]] }],
        ],
      ];
    },
    refused: async ({ odoo, has }) => {
      const [id] = await odoo('sale.order', 'search', [[]], { limit: 1 });
      const values: object[] = [
        { message_partner_ids: [[4, 3]] },
        { message_follower_ids: [[0, 0, { partner_id: 3 }]] },
        { message_ids: [[0, 0, { body: 'attack' }]] },
        { activity_ids: [[0, 0, { summary: 'attack', user_id: 2 }]] },
        ...((await has('stock.picking')) ? [{ picking_ids: [[1, 1, { note: 'attack' }]] }] : []),
        ...((await has('account.move')) ? [{ invoice_ids: [[2, 1]] }] : []),
      ];
      return values.map((each) => ['write', 'sale.order', [[id], each]] as const);
    },
  },
  {
    name: 'a lead changes the email of a contact',
    policy: { models: { 'crm.lead': ['*'] } },
    needs: 'crm.lead',
    allowed: [['create', 'crm.lead', [{ name: 'attack', email_from: 'attack@example.com', phone: '1' }]]],
    refused: async ({ odoo }) => {
      const [id] = await odoo('crm.lead', 'search', [[]], { limit: 1 });
      return [
        ['write', 'crm.lead', [[id], { partner_id: 3, email_from: 'attack@example.com' }]],
        ['create', 'crm.lead', [{ name: 'attack', partner_id: 3, email_from: 'attack@example.com' }]],
      ];
    },
  },
  {
    name: 'values as arguments or as defaults change a contact or add followers',
    policy: {
      models: { 'crm.lead': ['*'], 'hr.employee': ['*'], 'project.task': ['*'], 'sale.order': ['*'] },
    },
    needs: 'crm.lead',
    allowed: async ({ odoo }) => {
      const id = await odoo('crm.lead', 'create', [{ name: 'attack' }]);
      return [
        ['action_set_lost', 'crm.lead', [[id]]],
        [
          'create',
          'crm.lead',
          [{ name: 'attack' }],
          { context: { default_email_from: 'attack@example.com' } },
        ],
        ['create', 'crm.lead', [{ name: 'attack' }], { context: { default_partner_id: 3 } }],
      ];
    },
    refused: async ({ odoo }) => {
      const id = await odoo('crm.lead', 'create', [{ name: 'attack' }]);
      const email = 'attack@example.com';
      return [
        ['action_set_lost', 'crm.lead', [[id]], { email_from: email }],
        ['action_set_lost', 'crm.lead', [[id]], { message_partner_ids: [[4, 3]] }],
        [
          'create',
          'crm.lead',
          [{ name: 'attack', partner_id: 3 }],
          { context: { default_email_from: email } },
        ],
        [
          'create',
          'crm.lead',
          [{ name: 'attack' }],
          { context: { default_partner_id: 3, default_email_from: email } },
        ],
        [
          'create',
          'hr.employee',
          [{ name: 'attack' }],
          { context: { default_work_contact_id: 3, default_work_email: email } },
        ],
        ['create', 'project.task', [{ name: 'attack', parent_id: 1, partner_phone: '1' }]],
        ['action_confirm', 'sale.order', [[1]], { context: { default_partner_email: email } }],
        ['action_confirm', 'sale.order', [[1]], { context: { default_email_from: email } }],
      ] as const;
    },
  },
  {
    name: 'defaults are read from a record of another model',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'crm.lead',
    allowed: [
      ['default_get', 'res.partner', [['name', 'street']], { context: { active_model: 'res.partner' } }],
    ],
    refused: [
      [
        'default_get',
        'res.partner',
        [['name', 'street']],
        { context: { active_model: 'crm.lead', active_id: 1, active_ids: [1] } },
      ],
    ],
  },
  {
    name: 'a file is published at an address of Odoo by defaults',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'mail.message',
    allowed: [['message_post', 'res.partner', [[1]], { body: 'attack', attachments: [['a.txt', 'attack']] }]],
    refused: [
      [
        'message_post',
        'res.partner',
        [[1]],
        { body: 'attack', attachments: [['a.js', 'attack']], context: { default_url: '/attack.js' } },
      ],
      ['write', 'res.partner', [[1], { image_1920: 'PHN2Zy8+' }], { context: { default_public: true } }],
    ],
  },
  {
    name: 'an employee changes the email of a contact',
    policy: { models: { 'hr.employee': ['*'] } },
    needs: 'hr.employee',
    refused: [
      ['create', 'hr.employee', [{ name: 'attack', work_contact_id: 3, work_email: 'attack@example.com' }]],
    ],
  },
  {
    name: 'an applicant changes the phone of a contact',
    policy: { models: { 'hr.applicant': ['*'], 'hr.candidate': ['*'] } },
    needs: 'hr.applicant',
    allowed: ({ version }) => {
      const email_from = 'attack@example.com';
      if (version === 18)
        return Promise.resolve([['create', 'hr.candidate', [{ partner_name: 'attack', email_from }]]]);
      const values = { partner_name: 'attack', email_from, ...(version < 18 && { name: 'attack' }) };
      return Promise.resolve([['create', 'hr.applicant', [values]]]);
    },
    refused: ['hr.applicant', 'hr.candidate'].map((model) => [
      'create',
      model,
      [{ partner_name: 'attack', email_from: 'attack@example.com', partner_phone: '1' }],
    ]),
  },
  {
    name: 'fields of employees, departments and jobs give rights',
    policy: { models: { 'hr.*': ['*', 'create', 'write'] } },
    needs: 'hr.employee',
    allowed: [
      ['create', 'hr.employee', [{ name: 'attack', work_email: 'attack@example.com' }]],
      ['create', 'hr.department', [{ name: 'attack' }]],
    ],
    refused: async ({ odoo, has }) => {
      const id = await odoo('hr.employee', 'create', [{ name: 'attack' }]);
      const values: object[] = [
        { leave_manager_id: 2 },
        { parent_id: id },
        { attendance_manager_id: 2 },
        { work_email: 'attack@example.com' },
      ];
      return [
        ...values.map((each) => ['write', 'hr.employee', [[id], each]] as const),
        ['create', 'hr.employee', [{ name: 'attack' }], { context: { default_leave_manager_id: 2 } }],
        ['create', 'hr.department', [{ name: 'attack', manager_id: id }]],
        ...((await has('hr.job'))
          ? [['create', 'hr.job', [{ name: 'attack', interviewer_ids: [[6, 0, [2]]] }]] as const]
          : []),
      ];
    },
  },
  {
    name: 'a stage or a state sends a template',
    policy: { models: { 'project.*': ['*'], 'hr.applicant': ['*'], 'event.*': ['*'] } },
    needs: 'project.task',
    allowed: [['create', 'project.task', [{ name: 'attack' }]]],
    refused: async ({ odoo, has }) => {
      const id = await odoo('project.task', 'create', [{ name: 'attack' }]);
      return [
        ['write', 'project.task', [[id], { stage_id: 1 }]],
        ['create', 'project.task', [{ name: 'attack', stage_id: 1 }]],
        ['create', 'project.task', [{ name: 'attack' }], { context: { default_stage_id: 1 } }],
        ...((await has('hr.applicant')) ? [['write', 'hr.applicant', [[1], { stage_id: 1 }]] as const] : []),
        ...((await has('event.registration'))
          ? ([
              ['create', 'event.registration', [{ event_id: 1, email: 'attack@example.com' }]],
              ['write', 'event.registration', [[1], { state: 'open' }]],
            ] as const)
          : []),
      ];
    },
  },
  {
    name: 'a stage changes where the policy names the mail',
    policy: { models: { 'project.task': ['*'], 'mail.mail': ['create'] } },
    needs: 'project.task',
    allowed: async ({ odoo }) => {
      const project = await odoo('project.project', 'create', [{ name: 'attack' }]);
      const stage = await odoo('project.task.type', 'create', [
        { name: 'attack', project_ids: [[6, 0, [project]]] },
      ]);
      const id = await odoo('project.task', 'create', [{ name: 'attack', project_id: project }]);
      return [['write', 'project.task', [[id], { stage_id: stage }]]];
    },
    refused: [],
  },
  {
    name: 'an event invites partners',
    policy: { models: { 'calendar.event': ['*'], 'res.partner': ['read'] } },
    needs: 'calendar.event',
    allowed: [['create', 'calendar.event', [event()]]],
    refused: [
      ['create', 'calendar.event', [event({ partner_ids: [[6, 0, [3]]] })]],
      ['create', 'calendar.event', [event()], { context: { default_partner_ids: [3] } }],
      ['write', 'calendar.event', [[1], { partner_ids: [[4, 3]] }]],
    ],
  },
  {
    name: 'a supplier of lunches changes a contact and a scheduled action',
    policy: { models: { 'lunch.*': ['*'] } },
    needs: 'lunch.supplier',
    allowed: [['search_read', 'lunch.supplier', [[], ['name']], { limit: 1 }]],
    refused: [
      ['write', 'lunch.supplier', [[1], { email: 'attack@example.com' }]],
      ['create', 'lunch.supplier', [{ partner_id: 3, email: 'attack@example.com' }]],
      ['write', 'lunch.supplier', [[1], { automatic_email_time: 1 }]],
    ],
  },
  {
    name: 'a wizard changes the company',
    policy: { models: { 'base.document.layout': ['create', 'write'], 'account.automatic.*': ['*'] } },
    needs: 'base.document.layout',
    allowed: [['create', 'base.document.layout', [{}]]],
    refused: [
      ['create', 'base.document.layout', [{ company_id: 1, report_footer: 'attack' }]],
      ['create', 'base.document.layout', [{ report_footer: 'attack' }]],
      ['write', 'base.document.layout', [[1], { company_details: 'attack' }]],
    ],
  },
  {
    name: 'a company changes its contact, and a journal its bank account',
    policy: { models: { 'res.company': ['write'], 'account.journal': ['*'] } },
    needs: 'account.journal',
    allowed: [['search_read', 'account.journal', [[], ['name']], { limit: 1 }]],
    refused: [
      ['write', 'res.company', [[1], { email: 'attack@example.com' }]],
      ['write', 'account.journal', [[1], { company_id: 1 }]],
    ],
  },
  {
    name: 'a task changes the properties of its project',
    versions: [16, 19],
    policy: { models: { 'project.task': ['*'] } },
    needs: 'project.task',
    refused: [
      [
        'write',
        'project.task',
        [[1], { task_properties: [{ name: 'a', type: 'char', string: 'a', definition_changed: true }] }],
      ],
    ],
  },
  {
    name: 'an attachment is published as a document of a product',
    versions: [17, 19],
    policy: { models: { 'product.*': ['*'] } },
    needs: 'product.document',
    refused: [
      [
        'create',
        'product.document',
        [{ name: 'attack.js', mimetype: 'text/javascript', public: true, raw: 'alert(1)' }],
      ],
      [
        'create',
        'product.template',
        [
          {
            name: 'attack',
            product_document_ids: [[0, 0, { name: 'attack.js', mimetype: 'text/javascript' }]],
          },
        ],
      ],
    ],
  },
  {
    name: 'a read makes a token to sign up',
    policy: { models: { 'res.partner': ['*'] }, read_only: true },
    needs: 'res.partner',
    allowed: [['read', 'res.partner', [[1], ['name']], { context: { lang: 'en_US' } }]],
    refused: [
      ['read', 'res.partner', [[1], ['signup_url']], { context: { signup_valid: true } }],
      ['search_read', 'res.partner', [[], ['signup_url']], { limit: 1, context: { signup_valid: 1 } }],
    ],
  },
  {
    name: 'a denied field of attachments under other names',
    policy: {
      models: { 'ir.attachment': ['read', 'search_read', 'search'] },
      fields: { 'ir.attachment': { deny: ['datas'] } },
    },
    allowed: [['search_read', 'ir.attachment', [[['id', '>', 0]], ['name']], { limit: 1 }]],
    refused: ['datas', 'raw', 'db_datas', 'index_content', 'checksum', 'file_size'].map((field) => [
      'search_read',
      'ir.attachment',
      [[['id', '>', 0]], [field]],
      { limit: 1 },
    ]),
  },
  {
    name: 'a denied code of products under other names',
    policy: {
      models: { 'product.*': ['read', 'search_read', 'search'] },
      fields: { 'product.*': { deny: ['default_code'] } },
    },
    needs: 'product.product',
    allowed: [['search_read', 'product.product', [[], ['list_price']], { limit: 1, order: 'id' }]],
    refused: ['default_code', 'code', 'partner_ref', 'display_name'].map((field) => [
      'search_read',
      'product.product',
      [[], [field]],
      { limit: 1, order: 'id' },
    ]),
  },
  {
    name: 'a denied code of products in the address of a page and in names of records',
    policy: { models: { '*': ['*'] }, fields: { 'product.*': { deny: ['default_code'] } } },
    needs: 'website.page',
    allowed: [
      ['search_read', 'product.template', [[], ['list_price']], { limit: 1, order: 'id' }],
      ['search_read', 'ir.attachment', [[['id', '>', 0]], ['name', 'res_id']], { limit: 1 }],
    ],
    refused: [
      ['search_read', 'product.template', [[], ['website_url']], { limit: 1, order: 'id' }],
      ['search_read', 'ir.attachment', [[['id', '>', 0]], ['res_name']], { limit: 1 }],
      ['search_read', 'mail.activity', [[], ['res_name']], { limit: 1 }],
    ],
  },
  {
    name: 'a denied address of contacts in leads and registrations',
    policy: { models: { '*': ['*'] }, fields: { 'res.partner': { deny: ['street', 'email'] } } },
    needs: 'event.lead.rule',
    allowed: [['search_read', 'crm.lead', [[], ['name']], { limit: 1 }]],
    refused: [
      ['search_read', 'crm.lead', [[], ['street']], { limit: 1 }],
      ['search_read', 'event.registration', [[], ['email']], { limit: 1 }],
    ],
  },
  {
    name: 'a point of sale installs modules',
    policy: { models: { 'pos.config': ['*'] } },
    needs: 'pos.config',
    allowed: [['search_read', 'pos.config', [[], ['name']], { limit: 1 }]],
    refused: [
      ['write', 'pos.config', [[1], { module_pos_restaurant: true }]],
      ['install_pos_restaurant', 'pos.config', []],
      ['load_onboarding_bar_scenario', 'pos.config', []],
    ],
  },
  {
    name: 'forms that send mail of the call',
    versions: [18, 19],
    policy: { models: { 'fleet.*': ['read', 'create', 'action_*'] } },
    needs: 'fleet.vehicle.send.mail',
    allowed: [['read', 'fleet.vehicle', [[1], ['name']]]],
    refused: [
      ['create', 'fleet.vehicle.send.mail', [{ subject: '{{ object.env.user.login }}', body: 'attack' }]],
      ['action_send', 'fleet.vehicle.send.mail', [[1]]],
    ],
  },
  {
    name: 'methods of a point of sale return records of other models',
    versions: [18, 19],
    policy: { models: { 'sale.order': ['*'], 'pos.order': ['*'], 'res.partner': ['*'] } },
    needs: 'pos.order',
    allowed: [['search_read', 'pos.order', [[], ['name']], { limit: 1 }]],
    refused: [
      ['load_sale_order_from_pos', 'sale.order', [[1], 1]],
      ['get_new_partner', 'res.partner', [1, [], 0]],
      ['read_pos_data', 'pos.order', [[1], [], 1]],
      ['read_pos_orders', 'pos.order', [[]]],
    ],
  },
  {
    name: 'denied amounts under other names',
    policy: {
      models: { 'sale.order': ['read', 'search_read', 'search'] },
      fields: { 'sale.order': { deny: ['amount_*'] } },
    },
    needs: 'sale.order',
    allowed: [['search_read', 'sale.order', [[], ['name']], { limit: 1, order: 'id' }]],
    refused: ['amount_total', 'amount_undiscounted'].map((field) => [
      'search_read',
      'sale.order',
      [[], [field]],
      { limit: 1, order: 'id' },
    ]),
  },
  {
    name: 'reads in which Odoo ignores the limit, and names of related records, pass limit_max',
    policy: { models: { '*': ['*'], 'res.country': ['export_data'] }, limit_max: 2 },
    needs: 'account.account',
    allowed: [['export_data', 'res.country', [[233], ['name', 'currency_id']]]],
    refused: [
      ['export_data', 'res.country', [[233], ['state_ids']]],
      ['read_group', 'product.template', [[], ['categ_id'], ['categ_id']], { limit: 2 }],
      ['name_search', 'account.account', [''], { context: { partner_id: 3, move_type: 'out_invoice' } }],
      ['search_read', 'account.code.mapping', [[['account_id', 'in', [1, 2, 3]]], ['code']], { limit: 2 }],
      ['copy_data', 'res.partner', [[3]]],
    ],
  },
  {
    name: 'denied fields in queries, views of the database, lists of records and names',
    policy: {
      models: { '*': ['*'] },
      fields: {
        'account.move.line': { deny: ['amount_residual', 'balance', 'partner_id'] },
        'account.payment.method': { deny: ['code'] },
        'product.attribute.value': { deny: ['name'] },
      },
    },
    needs: 'account.move',
    allowed: [['search_read', 'account.move.line', [[], ['quantity']], { limit: 1 }]],
    refused: [
      ['search_read', 'res.partner', [[], ['credit']], { limit: 1 }],
      ['search_read', 'account.invoice.report', [[], ['price_subtotal']], { limit: 1 }],
      ['search_read', 'account.journal', [[], ['selected_payment_method_codes']], { limit: 1 }],
      ['search_read', 'product.product', [[], ['display_name']], { limit: 1 }],
    ],
  },
  {
    name: 'related records without limit',
    policy: { models: { '*': ['*', 'web_read'], 'res.country': ['web_read'] }, limit_max: 2 },
    versions: [17, 19],
    allowed: [['web_read', 'res.country', [[233]], { specification: { name: {} } }]],
    refused: [
      ['web_read', 'res.country', [[233]], { specification: { state_ids: { fields: { name: {} } } } }],
      ['web_search_read', 'res.country', [[], { state_ids: { fields: { name: {} } } }], { limit: 1 }],
    ],
  },
  {
    name: 'writes and forms return related records without limit',
    policy: {
      models: { 'res.country': ['web_save', 'onchange', 'export_data'], 'res.country.state': ['read'] },
      limit_max: 2,
    },
    versions: [17, 19],
    allowed: [
      ['web_save', 'res.country', [[233], {}, { name: {}, state_ids: { fields: { name: {} }, limit: 2 } }]],
      ['export_data', 'res.country', [[233], ['name', 'code']]],
    ],
    refused: [
      ['web_save', 'res.country', [[233], {}, { state_ids: { fields: { name: {} } } }]],
      ['web_save', 'res.country', [[233], {}, { name: {} }, [1, 2, 3, 4]]],
      ['onchange', 'res.country', [[233], {}, [], { state_ids: { fields: { name: {} } } }]],
      ['export_data', 'res.country', [[233], ['state_ids/name']]],
      ['export_data', 'res.country', [[1, 2, 3], ['name']]],
    ],
  },
  {
    name: 'a progress bar returns each value of a field',
    policy: { models: { 'res.country': ['*'] }, limit_max: 2 },
    allowed: [['read_group', 'res.country', [[], ['name'], ['name']]]],
    refused: [
      ['read_progress_bar', 'res.country', [[], 'name', { field: 'code', colors: { BE: 'success' } }]],
    ],
  },
  {
    name: 'a form of 14 to 16 returns related records without limit',
    policy: { models: { 'res.country': ['onchange'], 'res.country.state': ['read'] }, limit_max: 2 },
    versions: [14, 16],
    refused: [['onchange', 'res.country', [[233], {}, 'name', { state_ids: '', 'state_ids.name': '' }]]],
  },
  {
    name: 'fields of related records lead into models that the policy does not name',
    policy: { models: { 'sale.order': ['*'], 'sale.order.line': ['read'], 'res.country': ['read'] } },
    needs: 'sale.order',
    allowed: ({ version }) =>
      Promise.resolve([
        ['export_data', 'sale.order', [[1], ['name', 'partner_id/id', 'order_line/name']]],
        ['load', 'sale.order', [['id', 'partner_id/.id'], []]],
        ...(version >= 17
          ? [['web_read', 'sale.order', [[1], { order_line: { fields: { name: {} } } }]] as const]
          : [['read_group', 'sale.order', [[], ['amount_total'], ['partner_id']]] as const]),
      ]),
    refused: ({ version }) => {
      const email = { partner_id: { fields: { email: {} } } };
      const panel = { expand: true, hierarchize: false };
      return Promise.resolve([
        ['export_data', 'sale.order', [[1], ['partner_id/email']]],
        ['load', 'sale.order', [['id', 'partner_id'], [['a', 'azure']]]],
        ['search_panel_select_range', 'sale.order', ['partner_id'], panel],
        ['read', 'sale.order', [[1], ['partner_id']], { context: { show_email: true } }],
        version >= 19
          ? ['formatted_read_group', 'sale.order', [[], ['partner_id.country_id']]]
          : ['read_group', 'sale.order', [[], ['amount_total'], ['partner_id.country_id']]],
        ...(version >= 17
          ? [
              ['web_read', 'sale.order', [[1], email]] as const,
              ['web_search_read', 'sale.order', [[], email]] as const,
              ['web_save', 'sale.order', [[1], {}, email]] as const,
              ['onchange', 'sale.order', [[], {}, [], email]] as const,
            ]
          : [['onchange', 'sale.order', [[], {}, 'name', { 'partner_id.email': '' }]] as const]),
      ]);
    },
  },
  {
    name: 'a view of another model, by its id',
    policy: { models: LEAD },
    needs: 'crm.lead',
    allowed: ({ version }) =>
      Promise.resolve([
        [
          version >= 16 ? 'get_views' : 'load_views',
          'crm.lead',
          [
            [
              [false, 'form'],
              [false, 'list'],
            ],
          ],
        ] as const,
      ]),
    refused: async ({ odoo, version }) => {
      const [id] = await odoo('ir.ui.view', 'search', [[['model', '=', 'res.users']]], { limit: 1 });
      const context = { form_view_ref: 'base.view_users_form' };
      const one = version >= 16 ? 'get_view' : 'fields_view_get';
      const several = version >= 16 ? 'get_views' : 'load_views';
      return [
        [several, 'crm.lead', [[[id, 'form']]]],
        [several, 'crm.lead', [[[false, 'form']]], { context }],
        [one, 'crm.lead', [id, 'form']],
        [one, 'crm.lead', [], { view_id: id }],
        [one, 'crm.lead', [false, 'form'], { context }],
      ] as const;
    },
  },
  {
    name: 'activities and attachments show names of records of any model',
    policy: { models: { ...LEAD, 'mail.activity': ['*'], 'ir.attachment': ['*'] } },
    needs: 'crm.lead',
    allowed: async ({ odoo }) => {
      const [id] = await odoo('crm.lead', 'search', [[]], { limit: 1 });
      const context = { default_res_model: 'crm.lead' };
      return [
        ['create', 'mail.activity', [{ summary: 'attack', res_id: id }], { context }],
        ['create', 'ir.attachment', [{ name: 'attack', res_model: 'crm.lead', res_id: id }]],
      ];
    },
    refused: async ({ odoo, version }) => {
      const [lead] = await odoo('ir.model', 'search', [[['model', '=', 'crm.lead']]]);
      const [users] = await odoo('ir.model', 'search', [[['model', '=', 'res.users']]]);
      const context = { default_res_model: 'res.users', default_res_id: 2 };
      return [
        ['create', 'mail.activity', [{ summary: 'attack', res_model_id: users, res_id: 2 }]],
        ['create', 'mail.activity', [{ res_model: 'res.users', res_model_id: lead, res_id: 2 }]],
        ['create', 'mail.activity', [{ summary: 'attack' }], { context }],
        ['write', 'mail.activity', [[1], { res_id: 2 }]],
        [
          'onchange',
          'mail.activity',
          [
            [],
            { res_model: 'res.users', res_id: 2 },
            [],
            version >= 17 ? { res_name: {} } : { res_name: '' },
          ],
        ],
        ['activity_schedule', 'crm.lead', [[1]], { res_model_id: users, res_id: 2 }],
        ['create', 'ir.attachment', [{ name: 'attack', res_model: 'res.users', res_id: 2 }]],
        ['load', 'ir.attachment', [['name', 'res_model', 'res_id'], [['attack', 'res.users', '2']]]],
      ] as const;
    },
  },
  {
    name: 'references show names of records of any model',
    versions: [17, 19],
    policy: { models: { 'gamification.karma.tracking': ['*'], 'ir.attachment': ['*'] } },
    needs: 'gamification.karma.tracking',
    allowed: async ({ odoo }) => {
      const [id] = await odoo('gamification.karma.tracking', 'search', [[]], { limit: 1 });
      return [['web_read', 'gamification.karma.tracking', [[id], { origin_ref: {} }]]];
    },
    refused: async ({ odoo }) => {
      const [id] = await odoo('gamification.karma.tracking', 'search', [[]], { limit: 1 });
      const values = { user_id: 2, new_value: 1, origin_ref: 'res.users,2' };
      const shown = { fields: { display_name: {} } };
      return [
        ['web_read', 'gamification.karma.tracking', [[id], { origin_ref: shown }]],
        ['export_data', 'gamification.karma.tracking', [[id], ['origin_ref/display_name']]],
        ['search_count', 'gamification.karma.tracking', [[['origin_ref.login', '=', 'admin']]]],
        ['onchange', 'gamification.karma.tracking', [[], values, [], { origin_ref: shown }]],
        ['web_save', 'gamification.karma.tracking', [[], values, { origin_ref: shown }]],
        ['web_read', 'ir.attachment', [[1], { res_id: shown }]],
      ] as const;
    },
  },
  {
    name: 'a finished activity takes files of any record into a message',
    policy: { models: { ...LEAD, 'purchase.order': ['*'] } },
    needs: 'crm.lead',
    allowed: [['activity_feedback', 'crm.lead', [[1], ['mail.mail_activity_data_call'], null, 'attack']]],
    refused: [
      ['activity_feedback', 'crm.lead', [[1], [], null, 'attack', [1]]],
      ['activity_feedback', 'crm.lead', [[1], []], { attachment_ids: [1] }],
      ['action_create_invoice', 'purchase.order', [[1], [1]]],
    ],
  },
  {
    name: 'a property shows names of records of any model',
    versions: [16, 19],
    policy: { models: { 'crm.team': ['*'], 'crm.lead': ['*'] } },
    needs: 'crm.lead',
    allowed: async ({ odoo }) => {
      const [id] = await odoo('crm.team', 'create', [[{ name: 'attack' }]]);
      const definition = { name: 'a', type: 'many2one', string: 'a', comodel: 'crm.lead' };
      return [['write', 'crm.team', [[id], { lead_properties_definition: [definition] }]]];
    },
    refused: async ({ odoo }) => {
      const [id] = await odoo('crm.team', 'create', [[{ name: 'attack' }]]);
      const definition = { name: 'a', type: 'many2one', string: 'a', comodel: 'res.users' };
      return [
        ['write', 'crm.team', [[id], { lead_properties_definition: [definition] }]],
        ['write', 'crm.lead', [[1], { lead_properties: [{ ...definition, definition_changed: true }] }]],
        ['search_count', 'crm.lead', [[['lead_properties.a', 'ilike', 'a']]]],
      ] as const;
    },
  },
  {
    name: 'a page probes models that its policy does not name',
    policy: { models: { 'product.template': ['read', 'search_read', 'search_count'] }, read_only: true },
    needs: 'product.template',
    allowed: [
      ['search_read', 'product.template', [[['name', '!=', false]], ['name', 'categ_id']], { limit: 1 }],
    ],
    refused: [
      [['create_uid.partner_id.email', 'like', 'a']],
      [['create_uid.login', 'like', 'a']],
      [['seller_ids.price', '>', 1]],
      [['message_ids.body', 'like', 'a']],
      [['product_variant_ids.stock_quant_ids.quantity', '>', 0]],
    ].map((domain) => ['search_count', 'product.template', [domain]]),
  },
  {
    name: 'a path finds out the text of a mail, or keys of a provider of payments',
    policy: { models: { '*': ['*'] } },
    needs: 'mail.notification',
    allowed: ({ version }) =>
      Promise.resolve([
        ['search_count', 'mail.notification', [[['mail_message_id.subject', '!=', 'a']]]],
        ['search_count', 'mail.notification', [[[nameMail(version), '!=', false]]]],
        ['export_data', 'res.partner', [[1], ['country_id/code']]],
        ...(version >= 17
          ? [['web_read', 'res.partner', [[1], { country_id: { fields: { code: {} } } }]] as const]
          : []),
      ]),
    refused: async ({ odoo, has, version }) => {
      const [id] = await odoo('mail.notification', 'search', [[]], { limit: 1 });
      const body = [['body_html', 'like', 'reset_password']];
      const mail = nameMail(version);
      const provider = version < 16 ? 'acquirer_id.provider' : 'provider_id.code';
      return [
        ['search_count', 'mail.notification', [[[`${mail}.body_html`, 'like', 'reset_password']]]],
        ['read_group', 'mail.notification', [[[`${mail}.body_html`, 'like', 'a']], [], ['res_partner_id']]],
        ['search', 'mail.notification', [[], 0, 1, `${mail}.body_html`]],
        ['export_data', 'mail.notification', [[id], [`${mail}/body_html`]]],
        ['search_panel_select_range', 'mail.notification', [mail], { comodel_domain: body }],
        ['search_panel_select_multi_range', 'mail.notification', [mail], { group_by: 'body_html' }],
        ...(version >= 19
          ? ([
              [
                'web_read_group',
                'mail.notification',
                [[], ['mail_mail_id'], ['__count']],
                { groupby_read_specification: { mail_mail_id: { body_html: {} } } },
              ],
            ] as const)
          : []),
        ...(version >= 17
          ? ([
              ['search_count', 'mail.notification', [[['mail_mail_id', 'any', body]]]],
              ['web_read', 'mail.notification', [[id], { mail_mail_id: { fields: { body_html: {} } } }]],
            ] as const)
          : []),
        ...((await has('payment.transaction'))
          ? [['search_count', 'payment.transaction', [[[provider, '=', 'none']]]] as const]
          : []),
      ];
    },
  },
  {
    name: 'archiving, publishing and karma change other records',
    policy: { models: { 'lunch.supplier': ['*'], 'gamification.karma.tracking': ['*'] } },
    needs: 'lunch.supplier',
    allowed: [['search_read', 'lunch.supplier', [[], ['name']], { limit: 1 }]],
    refused: ({ version }) =>
      Promise.resolve([
        [version >= 19 ? 'action_archive' : 'toggle_active', 'lunch.supplier', [[1]]],
        ['action_archive', 'lunch.supplier', [[1]]],
        ['create', 'gamification.karma.tracking', [{ user_id: 2, new_value: 9 }]],
      ]),
  },
  {
    name: 'denied fields in searches by name and by fields with a search method',
    policy: {
      models: { '*': ['*'] },
      fields: {
        'account.analytic.account': { deny: ['code'] },
        'hr.employee': { deny: ['name'] },
        'product.product': { deny: ['barcode'] },
        'product.template': { deny: ['seo_name'] },
        'res.partner': { deny: ['city', 'name'] },
      },
    },
    needs: 'mrp.bom',
    allowed: [['search_count', 'mrp.production', [[['bom_id', '=', 1]]]]],
    refused: async ({ has, version }) => [
      ['search_count', 'mrp.production', [[['bom_id', 'ilike', 'a']]]],
      ['search_count', 'account.move', [[['invoice_line_ids', 'ilike', 'a']]]],
      ['search_count', 'sale.order.line', [[['analytic_distribution', 'ilike', 'a']]]],
      ...((await has('lunch.product'))
        ? [['search_count', 'lunch.product', [[['supplier_id', 'ilike', 'a']]]] as const]
        : []),
      ...((await has('hr.applicant'))
        ? [['search_read', 'hr.applicant', [[], ['employee_name']]] as const]
        : []),
      ...((await has('event.event')) && version >= 16
        ? [['search_count', 'event.event', [[['address_search', 'ilike', 'a']]]] as const]
        : []),
    ],
  },
  {
    name: 'a search by name runs a domain of the call on other records',
    policy: { models: { 'crm.team.member': ['*'], 'res.users': ['read'] } },
    needs: 'crm.team.member',
    allowed: [['name_search', 'crm.team.member', ['a']]],
    refused: ['any', 'not any'].flatMap((operator) => [
      ['name_search', 'crm.team.member', [[['login', '=', 'admin']], [], operator]] as const,
      ['search_count', 'crm.team.member', [[['display_name', operator, [['login', '=', 'a']]]]]] as const,
    ]),
  },
  {
    name: 'methods return addresses that open a record without a login',
    policy: {
      models: {
        'project.project': ['*'],
        'survey.survey': ['*'],
        'survey.user_input': ['*'],
        'hr.applicant': ['*'],
        'hr.attendance': ['*'],
        'hr.job': ['*'],
      },
    },
    needs: 'survey.survey',
    allowed: [['search_read', 'survey.survey', [[], ['title']], { limit: 1 }]],
    refused: [
      ['action_customer_preview', 'project.project', [[1]]],
      ['action_start_survey', 'survey.survey', [[1]]],
      ['action_print_survey', 'survey.survey', [[1]]],
      ['action_test_survey', 'survey.survey', [[1]]],
      ['action_open_session_manager', 'survey.survey', [[1]]],
      ['action_print_answers', 'survey.user_input', [[1]]],
      ['action_print_survey', 'hr.applicant', [[1]]],
      ['action_try_kiosk', 'hr.attendance', [[]]],
      ['action_test_survey', 'hr.job', [[1]]],
    ],
  },
  {
    name: 'the image of a map has the key of the service in its address',
    policy: { models: { 'res.partner': ['*'], 'res.company': ['*'] } },
    needs: 'website',
    allowed: [['search_read', 'res.partner', [[], ['name']], { limit: 1 }]],
    refused: [
      ['google_map_img', 'res.partner', [[3]]],
      ['google_map_img', 'res.company', [[1]]],
    ],
  },
  {
    name: 'methods return records of other models',
    policy: {
      models: {
        'kpi.provider': ['*'],
        'mail.activity': ['*'],
        'pos.config': ['*'],
        'pos.order': ['*'],
        'pos.session': ['*'],
        'project.project': ['*'],
        'res.partner': ['*'],
        'stock.move.line': ['*'],
      },
    },
    needs: 'pos.session',
    allowed: [
      ['search_read', 'pos.session', [[], ['name']], { limit: 1 }],
      ['search_read', 'project.project', [[], ['name']], { limit: 1 }],
    ],
    refused: [
      ['activity_format', 'mail.activity', [[1]]],
      ['get_account_kpi_summary', 'kpi.provider', []],
      ['get_and_set_online_payments_data', 'pos.order', [[1]]],
      ['get_cash_in_out_list', 'pos.session', [[1]]],
      ['get_closing_control_data', 'pos.session', [[1]]],
      ['get_limited_partners_loading', 'pos.config', [[1]]],
      ['get_milestones', 'project.project', [[1]]],
      ['get_move_line_quant_match', 'stock.move.line', [[1], 1, [], [1, 2, 3]]],
      ['get_order_to_print', 'pos.order', [[1]]],
      ['get_panel_data', 'project.project', [[1]]],
      ['get_template_tasks', 'project.project', [[1]]],
      ['get_working_hours_for_all_attendees', 'res.partner', [[3], '2026-01-05', '2026-01-09']],
      ['get_worklocation', 'res.partner', [[3], '2026-01-05', '2026-01-09']],
      ['load_self_data', 'pos.config', [[1]]],
      ['message_get_followers', 'res.partner', [[3]]],
    ],
  },
  {
    name: 'reports of live chats search messages by a domain of the call',
    versions: [19, 19],
    policy: { models: { 'im_livechat.report.channel': ['*'], 'im_livechat.channel.member.history': ['*'] } },
    needs: 'im_livechat.report.channel',
    allowed: [['search_count', 'im_livechat.report.channel', [[]]]],
    refused: [
      [
        'action_open_discuss_channel_view',
        'im_livechat.report.channel',
        [[['channel_id.message_ids.body', 'like', 'a']]],
      ],
      [
        'action_open_discuss_channel_view',
        'im_livechat.channel.member.history',
        [[['partner_id.email', 'like', 'a']]],
      ],
    ],
  },
  {
    name: 'a method gives all users a group, and another one makes an address of mail',
    policy: { models: { 'account.move': ['*'], 'hr.recruitment.source': ['*'] } },
    needs: 'hr.recruitment.source',
    allowed: [['search_read', 'account.move', [[], ['name']], { limit: 1 }]],
    refused: [
      ['action_activate_currency', 'account.move', [[1]]],
      ['button_hash', 'account.move', [[1]]],
      ['create_and_get_alias', 'hr.recruitment.source', [[1]]],
    ],
  },
  {
    name: 'a wizard restores the code of an action',
    versions: [19, 19],
    policy: { models: { 'server.action.history.wizard': ['*'] } },
    needs: 'server.action.history.wizard',
    refused: [['restore_revision', 'server.action.history.wizard', [[1]]]],
  },
  {
    name: 'the context of a wizard selects documents that the policy does not name',
    policy: {
      models: {
        'sale.advance.payment.inv': ['*'],
        'stock.backorder.confirmation': ['*'],
        'confirm.stock.sms': ['*'],
        'crm.lead2opportunity.partner': ['*'],
        'pos.confirmation.wizard': ['*'],
        'res.country': ['*'],
      },
    },
    needs: 'sale.advance.payment.inv',
    allowed: [['search_read', 'res.country', [[], ['name']], { limit: 1 }]],
    refused: async ({ has }) => {
      const context = { button_validate_picking_ids: [1] };
      const form = 'sale.advance.payment.inv';
      const other = { context: { active_model: 'res.country', active_ids: [1] } };
      const calls = [
        ['create', form, [{}], { context: { active_ids: [1] } }],
        ['create', form, [{}], other],
        ['default_get', form, [['sale_order_ids']], { context: { active_id: 1 } }],
        ['create_invoices', form, [[1]], { context: { active_ids: [1] } }],
        ['create_invoices', form, [[1]], { context: { active_model: 'sale.order', active_ids: [1] } }],
        ['create_invoices', form, [[1]], other],
        ['create', 'crm.lead2opportunity.partner', [{}], { context: { active_id: 1 } }],
        ['process', 'stock.backorder.confirmation', [[1]], { context }],
        ['process_cancel_backorder', 'stock.backorder.confirmation', [[1]], { context }],
        ['send_sms', 'confirm.stock.sms', [[1]], { context }],
        ['create', 'pos.confirmation.wizard', [{}], { context: { orders: [1] } }],
      ] as const;
      const exists = await Promise.all(calls.map(([, model]) => has(model)));
      return calls.filter((_, index) => exists[index]);
    },
  },
  {
    name: 'a method makes a partner follow a record',
    policy: { models: { 'res.partner': ['*'] } },
    needs: 'res.partner',
    allowed: [['search_read', 'res.partner', [[], ['name']], { limit: 1 }]],
    refused: [
      ['message_subscribe', 'res.partner', [[1], [3]]],
      ['message_subscribe', 'res.partner', [[1]], { partner_ids: [3] }],
    ],
  },
  {
    name: 'the context of a method selects a document that the policy does not name',
    versions: [19, 19],
    policy: { models: { 'stock.package': ['*'], 'mrp.bom': ['*'] } },
    needs: 'mrp.bom',
    allowed: [['search_read', 'mrp.bom', [[], ['id']], { limit: 1 }]],
    refused: [
      ['action_add_to_picking', 'stock.package', [[1]], { context: { picking_id: 1 } }],
      ['action_set_bom_on_orderpoint', 'mrp.bom', [[1]], { context: { orderpoint_id: 1 } }],
    ],
  },
  {
    name: 'a search by name refreshes the list of routes',
    policy: { models: { 'website.route': ['*'] }, read_only: true },
    needs: 'website.route',
    allowed: [['search_read', 'website.route', [[], ['path']], { limit: 1 }]],
    refused: [['name_search', 'website.route', ['attack']]],
  },
  {
    name: 'a method with a limit of its own returns all records',
    policy: { models: { 'link.tracker': ['*'] }, limit_max: 2 },
    needs: 'link.tracker',
    allowed: [['search_read', 'link.tracker', [[], ['url']], { limit: 1 }]],
    refused: [['recent_links', 'link.tracker', ['newest', 100_000]]],
  },
  {
    name: 'a menu of an event is deleted with a view that the call has linked to it',
    versions: [15, 19],
    policy: { models: { 'website.event.menu': ['*'] } },
    needs: 'website.event.menu',
    allowed: async ({ odoo }) => {
      const [menu_id] = await odoo('website.menu', 'search', [[]], { limit: 1 });
      return [['create', 'website.event.menu', [{ menu_id, event_id: 1, menu_type: 'register' }]]];
    },
    refused: async ({ odoo }) => {
      const [menu_id] = await odoo('website.menu', 'search', [[]], { limit: 1 });
      const values = { menu_id, event_id: 1, menu_type: 'register' };
      return [
        ['create', 'website.event.menu', [{ ...values, view_id: 1 }]],
        ['create', 'website.event.menu', [values], { context: { default_view_id: 1 } }],
        ['write', 'website.event.menu', [[1], { view_id: 1 }]],
      ];
    },
  },
  {
    name: 'a journal is deleted with a bank account that the call has linked to it',
    policy: { models: { 'account.journal': ['*'] } },
    needs: 'account.journal',
    allowed: [['search_read', 'account.journal', [[], ['name', 'bank_account_id']], { limit: 1 }]],
    refused: [
      ['create', 'account.journal', [{ name: 'attack', code: 'ATK', type: 'bank', bank_account_id: 1 }]],
      ['write', 'account.journal', [[1], { bank_account_id: 1 }]],
    ],
  },
  {
    name: 'a supplier of lunches is deleted with a scheduled action that the call has linked to it',
    policy: { models: { 'lunch.*': ['*'] } },
    needs: 'lunch.supplier',
    allowed: [['search_read', 'lunch.supplier', [[], ['name']], { limit: 1 }]],
    refused: [
      ['create', 'lunch.supplier', [{ partner_id: 3, cron_id: 1 }]],
      ['write', 'lunch.supplier', [[1], { cron_id: 1 }]],
      ['write', 'lunch.alert', [[1], { cron_id: 1 }]],
    ],
  },
  {
    name: 'an appointment is deleted with an activity, or archived with a leave, that the call has linked to it',
    policy: { models: { 'mail.activity': ['*'], 'hr.leave': ['*'] } },
    needs: 'hr.leave',
    refused: async ({ version }) => [
      ['write', 'hr.leave', [[1], { meeting_id: 1 }]],
      ...(version === 16 ? [['write', 'mail.activity', [[1], { calendar_event_id: 1 }]] as const] : []),
    ],
  },
  {
    name: 'a payment or a line of a statement is deleted with an entry that the call has linked to it',
    policy: { models: { 'account.payment': ['*'], 'account.bank.statement.line': ['*'] } },
    needs: 'account.payment',
    refused: [
      ['create', 'account.payment', [{ amount: 1, move_id: 1 }]],
      ['write', 'account.payment', [[1], { move_id: 1 }]],
      ['write', 'account.bank.statement.line', [[1], { move_id: 1 }]],
    ],
  },
  {
    name: 'a project is deleted with an analytic account that the call has linked to it',
    policy: { models: { 'project.*': ['*'] } },
    needs: 'project.project',
    allowed: [['create', 'project.project', [{ name: 'attack' }]]],
    refused: async ({ version }) => {
      const link = version < 18 ? 'analytic_account_id' : 'account_id';
      return [['create', 'project.project', [{ name: 'attack', [link]: 1 }]]];
    },
  },
  {
    name: 'a course, a quiz or a forum gives users any karma',
    policy: { models: { 'slide.*': ['*'], 'forum.*': ['*'] } },
    needs: 'slide.channel',
    allowed: [['search_read', 'slide.channel', [[], ['name', 'karma_gen_channel_finish']], { limit: 1 }]],
    refused: [
      ['create', 'slide.channel', [{ name: 'attack', karma_gen_channel_finish: 100_000 }]],
      ['write', 'slide.slide', [[1], { quiz_first_attempt_reward: 100_000 }]],
      ['write', 'forum.forum', [[1], { karma_gen_question_new: 100_000 }]],
    ],
  },
  {
    name: 'a domain that a rule or a team holds compares fields of any model',
    versions: [16, 19],
    policy: {
      models: { 'loyalty.*': ['*'], 'crm.*': ['*'], 'event.*': ['*'], 'gamification.challenge': ['*'] },
    },
    needs: 'loyalty.rule',
    allowed: [
      ['search_read', 'loyalty.rule', [[], ['product_domain']], { limit: 1 }],
      ['create', 'loyalty.program', [{ name: 'attack', program_type: 'promotion' }]],
    ],
    refused: async ({ odoo }) => {
      const [program_id] = await odoo('loyalty.program', 'search', [[]], { limit: 1 });
      const price = "[['seller_ids.price', '>', 5]]";
      const login = "[['create_uid.login', '=like', 'a%']]";
      return [
        ['create', 'loyalty.rule', [{ program_id, product_domain: price }]],
        ['create', 'loyalty.rule', [{ program_id }], { context: { default_product_domain: price } }],
        ['write', 'loyalty.program', [[program_id], { rule_ids: [[0, 0, { product_domain: price }]] }]],
        ['create', 'loyalty.reward', [{ program_id, discount_product_domain: price }]],
        ['write', 'crm.team', [[1], { assignment_domain: login }]],
        ['create', 'event.lead.rule', [{ name: 'attack', event_registration_filter: login }]],
        ['create', 'gamification.challenge', [{ name: 'attack', user_domain: login }]],
      ];
    },
  },
  {
    name: 'a denied birthday of employees as a text',
    versions: [19, 19],
    policy: { models: { 'hr.employee': ['read'] }, fields: { 'hr.employee': { deny: ['birthday'] } } },
    needs: 'hr.version',
    allowed: [['read', 'hr.employee', [[1], ['name']]]],
    refused: [['read', 'hr.employee', [[1], ['birthday_public_display_string']]]],
  },
  {
    name: 'members of the context change other records, or run a method',
    policy: { models: { 'account.move': ['read', 'message_post'], 'res.partner': ['read', 'write'] } },
    needs: 'account.move',
    allowed: [['read', 'res.partner', [[3], ['name']]]],
    refused: [
      ['message_post', 'account.move', [[1]], { body: 'attack', context: { mark_invoice_as_sent: true } }],
      ['message_post', 'account.move', [[1]], { body: 'attack', context: { from_alias: true } }],
      ['read', 'res.partner', [[3], ['name']], { context: { signup_valid: true } }],
      ['write', 'res.partner', [[3], {}], { context: { toggle_active: true, suggest_days: 9 } }],
    ],
  },
  {
    name: 'values of a draft say that it is paid, lock it, or send mail to a user',
    policy: { models: { 'account.move': ['*'], 'account.move.line': ['*'] } },
    needs: 'account.move',
    allowed: async ({ odoo }) => {
      const { invoice, line } = await draftInvoice(odoo);
      return [
        ['write', 'account.move', [[invoice], { narration: 'attack', invoice_date: '2026-01-01' }]],
        ['write', 'account.move.line', [[line], { name: 'attack' }]],
      ];
    },
    refused: async ({ odoo }) => {
      const { invoice, line } = await draftInvoice(odoo);
      const ofLine = { amount_residual: 0, amount_residual_currency: 0, reconciled: true };
      return [
        ['write', 'account.move', [[invoice], { amount_residual: 0 }]],
        ['write', 'account.move', [[invoice], { payment_state: 'paid' }]],
        ['write', 'account.move', [[invoice], { inalterable_hash: 'attack' }]],
        ['write', 'account.move', [[invoice], { line_ids: [[1, line, ofLine]] }]],
        ['write', 'account.move.line', [[line], ofLine]],
        ['write', 'account.move', [[invoice], { user_id: 2 }]],
        ['create', 'account.move', [{ move_type: 'out_invoice' }], { context: { default_user_id: 2 } }],
        ['write', 'account.move.line', [[line], { matching_number: 'I1' }]],
        ['write', 'account.move.line', [[line], { reconciled_lines_ids: [[6, 0, [line]]] }]],
        ['create', 'account.move', [{ move_type: 'entry' }], { context: { default_amount_residual: 0 } }],
      ] as const;
    },
  },
  {
    name: 'a line says that its order is confirmed, or that its invoice is posted',
    policy: { models: { 'account.move.line': ['*'], 'sale.order.line': ['*'] } },
    needs: 'sale.order',
    allowed: [['search_read', 'sale.order.line', [[], ['state', 'qty_invoiced']], { limit: 1 }]],
    refused: [
      ['create', 'sale.order.line', [{ order_id: 1, name: 'attack', state: 'sale' }]],
      [
        'create',
        'sale.order.line',
        [{ order_id: 1, name: 'attack' }],
        { context: { default_state: 'sale' } },
      ],
      ['write', 'sale.order.line', [[1], { qty_invoiced: 1, invoice_status: 'invoiced' }]],
      ['write', 'account.move.line', [[1], { parent_state: 'posted' }]],
    ],
  },
  {
    name: 'values change accounts, banks, stock and the approval of leaves',
    versions: [19, 19],
    policy: { models: { 'hr.leave': ['*'], 'product.*': ['*'], 'res.partner.bank': ['read', 'write'] } },
    needs: 'account.move',
    allowed: [['search_read', 'product.category', [[], ['name']], { limit: 1 }]],
    refused: [
      ['write', 'hr.leave', [[1], { validation_type: 'no_validation' }]],
      ['write', 'product.category', [[1], { account_stock_variation_id: 1 }]],
      ['write', 'res.partner.bank', [[1], { bank_bic: 'ATTACKXX' }]],
    ],
  },
  {
    name: 'the context unlocks posted entries',
    policy: {
      models: {
        'account.move': ['create', 'read', 'write', 'unlink'],
        'account.move.line': ['create', 'read', 'write', 'unlink'],
      },
    },
    needs: 'account.move',
    refused: [
      ['write', 'account.move', [[1], { date: '2026-01-01' }], { context: { skip_readonly_check: true } }],
      ['unlink', 'account.move', [[1]], { context: { force_delete: true } }],
    ],
  },
  {
    name: 'the quantity on hand of a product changes the stock',
    versions: [19, 19],
    policy: { models: { 'product.product': ['*'], 'product.template': ['*'] } },
    needs: 'stock.quant',
    allowed: [['write', 'product.product', [[1], { description: 'attack' }]]],
    refused: [
      ['write', 'product.product', [[1], { qty_available: 5 }]],
      ['write', 'product.template', [[1], { qty_available: 5 }]],
    ],
  },
  {
    name: 'a form writes system parameters',
    versions: [15, 19],
    policy: { models: { 'crm.*': ['*'], 'publisher_warranty.contract': ['*'] } },
    needs: 'crm.lead.pls.update',
    allowed: [['search_read', 'crm.lead', [[], ['name']], { limit: 1 }]],
    refused: async ({ odoo }) => {
      const id = await odoo('crm.lead.pls.update', 'create', [{ pls_start_date: '2026-01-01' }]);
      return [
        ['action_update_crm_lead_probabilities', 'crm.lead.pls.update', [[id]]],
        ['update_notification', 'publisher_warranty.contract', []],
      ];
    },
  },
  {
    name: 'an invoice removes the reconciliation of another one',
    policy: { models: { 'account.move': ['*'] } },
    needs: 'account.move',
    refused: [
      ['js_remove_outstanding_partial', 'account.move', [[1], 1]],
      ['js_assign_outstanding_line', 'account.move', [[1], 1]],
    ],
  },
  {
    name: 'values of a record are written to a record of another model that a link names',
    policy: {
      models: {
        'product.product': ['*'],
        'account.bank.statement.line': ['*'],
        'account.payment': ['*'],
        'crm.team': ['*'],
      },
    },
    needs: 'account.payment',
    allowed: [['create', 'product.product', [{ name: 'attack' }]]],
    refused: ({ version }) =>
      Promise.resolve([
        ['create', 'product.product', [{ product_tmpl_id: 1, list_price: 0.01 }]],
        ['write', 'product.product', [[1], { product_tmpl_id: 2 }]],
        ['copy', 'product.product', [1, { product_tmpl_id: 2, list_price: 0.01 }]],
        ['create', 'product.product', [{ list_price: 0.01 }], { context: { default_product_tmpl_id: 1 } }],
        ['create', 'account.bank.statement.line', [{ move_id: 1, narration: 'attack' }]],
        ['create', 'crm.team', [{ name: 'attack', alias_id: 1 }]],
        ...(version < 18
          ? ([['create', 'account.payment', [{ move_id: 1, narration: 'attack' }]]] as const)
          : []),
      ]),
  },
  {
    name: 'a scheduled action sends what a field of a record says',
    policy: {
      models: {
        'sale.order*': ['read', 'create', 'write'],
        'account.move*': ['read', 'create', 'write'],
        'project.*': ['*'],
        'product.*': ['*'],
        'calendar.*': ['*'],
      },
    },
    needs: 'sale.order',
    allowed: [['create', 'sale.order', [{ partner_id: 3 }]]],
    refused: ({ version }) => {
      const values = {
        sending_methods: ['email'],
        send_mail: true,
        mail_partner_ids: [3],
        mail_attachments_widget: [{ id: 1, name: 'attack' }],
      };
      return Promise.resolve([
        ...(version >= 17
          ? ([
              [
                'write',
                'account.move',
                [[1], { [version < 18 ? 'send_and_print_values' : 'sending_data']: values }],
              ],
              ['create', version < 18 ? 'account.move.send' : 'account.move.send.wizard', [values]],
            ] as const)
          : []),
        ['write', 'sale.order', [[1], { pending_email_template_id: 1 }]],
        ['write', 'product.product', [[1], { stock_notification_partner_ids: [[4, 3]] }]],
        ['write', 'calendar.event', [[1], { alarm_ids: [[6, 0, [1]]] }]],
        ['create', 'calendar.attendee', [{ event_id: 1, partner_id: 3 }]],
        ['write', 'project.project', [[1], { rating_request_deadline: '2020-01-01 00:00:00' }]],
      ]);
    },
  },
];

export const ATTACKS: readonly Attack[] = [
  ...REFUSED.map(makeRefused),
  {
    name: 'a denied field in a domain over many models',
    run: attackManyModels,
  },
  {
    name: 'methods of other names write without an approval',
    run: attackApprovals,
  },
  {
    name: 'methods that take values write, create and delete without an approval',
    run: attackSetters,
  },
  {
    name: 'a policy for all models reads fields that hold credentials',
    run: attackCredentials,
  },
  {
    name: 'default_get returns what was not asked',
    async run({ limit }) {
      const call = await limit({
        models: { 'res.partner': ['default_get'] },
        fields: { 'res.partner': { deny: ['company_id'] } },
      });
      const { result, error } = await call('default_get', 'res.partner', [['parent_id']]);
      if (error !== undefined) return `refused, though its policy allows it: ${error.message}`;
      const names = Object.keys(result);
      return names.every((name) => name === 'parent_id') ? null : `it returned ${names.join(', ')}`;
    },
  },
];

/** Names the fields for credentials that the server has, and reads companies without naming any. */
async function attackCredentials({ odoo, limit }: Target): Promise<string | null> {
  const fields: Record<string, object> = await odoo('res.company', 'fields_get', [], {
    attributes: ['type'],
  });
  const credentials = [...(listCredentialFields().get('res.company') ?? [])];
  const present = credentials.filter((name) => Object.hasOwn(fields, name));
  const call = await limit({ models: { '*': ['*'] } });
  const refused: readonly Call[] = [
    ...(present[0] === undefined ? credentials.slice(0, 1) : present).flatMap((name): Call[] => [
      ['read', 'res.company', [[1], ['name', name]]],
      ['search_count', 'res.company', [[[name, '!=', false]]]],
      ['search_count', 'res.users', [[[`company_id.${name}`, '=like', 'a%']]]],
      ['export_data', 'res.users', [[2], [`company_id/${name}`]]],
    ]),
    ['read', 'res.users', [[2], ['microsoft_calendar_rtoken']]],
    ['search_read', 'ir.ui.view', [[['visibility_password', '!=', false]], ['name']], { limit: 1 }],
    ['copy_data', 'res.company', [[1]]],
  ];
  const found: string[] = [];
  for (const each of refused) {
    const { error } = await make(call, each);
    if (!isDenied(error)) found.push(`${print(each)}: ${error?.message ?? 'it ran'}`);
  }
  for (const method of ['read', 'search_read']) {
    const { result, error } = await call(method, 'res.company', [method === 'read' ? [1] : []]);
    if (error !== undefined) found.push(`refused, though its policy allows it: ${method}: ${error.message}`);
    const shown = Object.keys(result?.[0] ?? {}).filter((name) => credentials.includes(name));
    if (shown.length > 0) found.push(`${method} of res.company returned ${shown.join(', ')}`);
  }
  return found.length === 0 ? null : found.join('\n         ');
}

async function attackApprovals({ odoo, limit, version }: Target): Promise<string | null> {
  const [id] = await odoo('res.partner', 'create', [[{ name: 'attack' }]]);
  const call = await limit({
    models: { 'res.partner': ['*'], 'product.product': ['*'], 'product.template': ['*'] },
    approve: { 'res.partner': ['create', 'write', 'unlink'], 'product.template': ['write'] },
  });
  const values = { name: 'attack' };
  const calls: readonly Call[] = [
    ['action_archive', 'res.partner', [[id]]],
    ['copy', 'res.partner', [id]],
    ['find_or_create', 'res.partner', ['attack@example.com']],
    ['load', 'res.partner', [['.id', 'name'], [[`${id}`, 'attack']]]],
    ['write', 'res.partner', [[id], { child_ids: [[2, id]] }]],
    ['write', 'product.product', [[1], values]],
    ...(version < 17
      ? []
      : [
          ['web_save', 'res.partner', [[id], values, {}]] as const,
          ['web_save', 'res.partner', [[], values, {}]] as const,
        ]),
  ];
  for (const each of calls) {
    const { error } = await make(call, each);
    if (error?.data.type !== 'approval_required') return `${print(each)}: ${error?.message ?? 'it ran'}`;
  }
  const { error } = await call('read', 'res.partner', [[id], ['name']]);
  return error === undefined ? null : `refused, though its policy allows it: ${error.message}`;
}

/** Methods of business logic that write values of the call, or delete its records. */
async function attackSetters({ has, limit }: Target): Promise<string | null> {
  const call = await limit({ models: { '*': ['*'] }, approve: { '*': ['create', 'write', 'unlink'] } });
  const calls: readonly Call[] = [
    ['set_moves_checked', 'account.move', [[1], true]],
    ['set_moves_checked', 'account.move', [[1]]],
    ['action_mass_deletion', 'calendar.event', [[1], 'all_events']],
    ['unlink_from_partner_id', 'calendar.filters', [3]],
    ['change_attendee_status', 'calendar.event', [[1], 'declined', 'self_only']],
    ['assign_geo_localize', 'crm.lead', [[1], 1, 1]],
    ['assign_partner', 'crm.lead', [[1], 3]],
    ['action_set_lost', 'crm.lead', [[1]], { name: 'attack' }],
    ['action_set_periodicity', 'digest.digest', [[1], 'weekly']],
    ['action_confirm', 'event.booth', [[1], { name: 'attack' }]],
    ['create_driver_history', 'fleet.vehicle', [[1], { driver_id: 3 }]],
    ['create_or_replace', 'ir.filters', [{ name: 'attack', model_id: 'res.partner' }]],
    ['create_from_template', 'loyalty.program', ['gift_card']],
    ['update_quantity', 'lunch.order', [[1], 1]],
    ['set_state', 'mrp.workorder', [[1], 'progress']],
    ['post_closing_cash_details', 'pos.session', [[1], 1]],
    ['update_address', 'res.partner', [[1], { street: 'attack' }]],
    ['sync_from_ui', 'restaurant.floor', ['attack', 'red', 1]],
  ];
  const found: string[] = [];
  for (const each of calls) {
    if (!(await has(each[1]))) continue;
    const { error } = await make(call, each);
    // A method that only other versions have can be left out of `*`.
    if (error?.data.type !== 'approval_required' && !isDenied(error))
      found.push(`${print(each)}: ${error?.message ?? 'it ran'}`);
  }
  return found.length === 0 ? null : found.join('\n         ');
}

/** Sends an OR of one denied path and many harmless paths, each into another model. */
async function attackManyModels({ odoo, limit }: Target): Promise<string | null> {
  const fields: Record<string, { type: string; relation?: string; searchable?: boolean; name: string }> =
    await odoo('res.partner', 'fields_get', [], { attributes: ['type', 'relation', 'searchable'] });
  const [id] = await odoo('res.partner', 'create', [[{ name: 'attack', vat: false, ref: 'attack-secret' }]]);
  const harmless = new Map<string, string>();
  const follow = async (prefix: string, of: typeof fields, depth: number) => {
    for (const [name, { relation, searchable }] of Object.entries(of)) {
      if (relation === undefined || searchable === false || harmless.has(relation) || harmless.size > 120)
        continue;
      harmless.set(relation, `${prefix}${name}.id`);
      if (depth === 0) continue;
      const next = await odoo(relation, 'fields_get', [], {
        attributes: ['type', 'relation', 'searchable'],
      }).catch(() => ({}));
      await follow(`${prefix}${name}.`, next, depth - 1);
    }
  };
  await follow('', fields, 2);
  const call = await limit({
    models: { '*': ['*'] },
    fields: { 'res.partner': { deny: ['ref'] } },
  });
  for (const count of [10, 62, 63, 64, 65, 79, 112]) {
    const paths = [...harmless.values()].slice(0, count).map((path) => [path, '=', -1]);
    const secret = ['child_ids.parent_id.ref', '=', 'attack-secret'];
    const domain = [...Array(paths.length).fill('|'), ...paths, secret];
    const { error } = await call('search_count', 'res.partner', [domain]);
    if (!isDenied(error))
      return `${paths.length} paths before it: ${JSON.stringify(error?.message ?? 'it ran')}`;
  }
  await odoo('res.partner', 'unlink', [[id]]);
  return null;
}

function makeRefused({ name, versions, policy, needs, allowed = [], refused }: RefusedCalls): Attack {
  return {
    name,
    ...(versions === undefined ? {} : { versions }),
    async run(target) {
      if (needs !== undefined && !(await target.has(needs))) return 'absent';
      const call = await target.limit(policy);
      const lists = [allowed, refused].map((list) => (typeof list === 'function' ? list(target) : list));
      const [mayRun = [], mustNot = []] = await Promise.all(lists);
      const found: string[] = [];
      for (const each of mayRun) {
        const { error } = await make(call, each);
        if (error !== undefined)
          found.push(`refused, though its policy allows it: ${print(each)}: ${error.message}`);
      }
      for (const each of mustNot) {
        const { error } = await make(call, each);
        if (!isDenied(error)) found.push(`${print(each)}: ${error?.message ?? 'it ran'}`);
      }
      return found.length === 0 ? null : found.join('\n         ');
    },
  };
}

const make = (call: KeyCall, [action, model, params, keyword]: Call) => call(action, model, params, keyword);

function print([action, model, params]: Call): string {
  return `${action} of ${model} ${JSON.stringify(params).slice(0, 200)}`;
}

/** A draft invoice for a customer, and its line of payment terms. */
async function draftInvoice(odoo: Target['odoo']): Promise<{ invoice: number; line: number }> {
  const lines = [[0, 0, { name: 'attack', price_unit: 1 }]];
  const values = { move_type: 'out_invoice', partner_id: 3, invoice_line_ids: lines };
  const [invoice = 0] = [await odoo('account.move', 'create', [values])].flat();
  const [line] = await odoo('account.move.line', 'search', [[['move_id', '=', invoice]]], { limit: 1 });
  return { invoice, line };
}
