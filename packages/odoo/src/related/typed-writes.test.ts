/** What x2many commands change and link, by the types of fields as servers describe them. */
import { describe, expect, test } from 'vitest';
import { describeFields } from '../../test/described-models.ts';
import { readArguments } from '../../test/read-arguments.ts';
import { type LearntTypes, readFieldTypes } from '../values/field-types.ts';
import { findRelatedWrites } from './related-writes.ts';

/** The methods that a policy has to allow, as `res.users/create`, and the models whose types the search asked for. */
function find(name: string, params: string, keyword = '{}') {
  const [model = '', method = ''] = name.split('/');
  const call = readArguments(params, keyword);
  const allowed: string[] = [];
  const learnt = { types: new Map(), asked: new Map() } satisfies LearntTypes;
  for (;;) {
    const { found, lacking } = findRelatedWrites(
      model,
      method,
      call,
      (...pair) => allowed.includes(pair.join('/')),
      learnt,
    );
    if (found !== null && typeof found === 'object' && 'model' in found) {
      const pair = `${found.model}/${found.method}`;
      expect(allowed).not.toContain(pair);
      allowed.push(pair);
    } else if (found !== null) return { needs: found, asks: [...learnt.types.keys()] };
    else if (lacking.size === 0) return { needs: allowed.sort(), asks: [...learnt.types.keys()] };
    for (const [of, names] of found === null ? lacking : []) {
      learnt.types.set(of, readFieldTypes(Buffer.from(describeFields(of)))!);
      learnt.asked.set(of, new Set([...(learnt.asked.get(of) ?? []), ...names]));
    }
  }
}

const needs = (name: string, params: string, keyword?: string) => find(name, params, keyword).needs;

describe('of a one2many field, each command needs the method that it stands for', () => {
  test.each([
    ['[0, 0, {"name": "x"}]', ['create']],
    ['[0, "virtual_1", {"name": "x"}]', ['create']],
    ['[1, 5, {"name": "x"}]', ['write']],
    ['[2, 5]', ['unlink']],
    // The lines lose their record, and Odoo can delete them.
    ['[3, 5]', ['unlink', 'write']],
    ['[4, 5, 0]', ['write']],
    ['[5]', ['unlink', 'write']],
    ['[6, 0, []]', ['unlink', 'write']],
    ['5', ['unlink', 'write']],
    ['[7]', ['create', 'unlink', 'write']],
    ['[true, 5, {}]', ['create', 'unlink', 'write']],
  ])('%s', (command, methods) => {
    const expected = methods.map((method) => `sale.order.line/${method}`);
    expect(needs('sale.order/write', `[[1], {"order_line": [${command}]}]`)).toEqual(expected);
    // A new record has nothing to clear.
    const ofNew = command === '[5]' ? [] : expected;
    expect(needs('sale.order/create', `[{"order_line": [${command}]}]`)).toEqual(ofNew);
    expect(needs('x.custom/write', `[[1], {"x_lines": [${command}]}]`)).toEqual(
      methods.map((method) => `x.custom.line/${method}`),
    );
  });

  test.each(['false', 'null'])('%s clears it, but for a new record', (value) => {
    expect(needs('sale.order/write', `[[1], {"order_line": ${value}}]`)).toEqual([
      'sale.order.line/unlink',
      'sale.order.line/write',
    ]);
    expect(find('sale.order/create', `[{"order_line": ${value}}]`)).toEqual({ needs: [], asks: [] });
    const line = (code: number, tax: string) => `[[1], {"order_line": [[${code}, 5, {"tax_id": ${tax}}]]}]`;
    for (const tax of [value, '[[5]]']) {
      expect(needs('sale.order/write', line(0, tax))).toEqual(['sale.order.line/create']);
      expect(needs('sale.order/write', line(1, tax))).toEqual(['account.tax/read', 'sale.order.line/write']);
    }
  });
});

test.each([
  ['[0, 0, {"name": "x"}]', 'create'],
  ['[1, 5, {"name": "x"}]', 'write'],
  ['[2, 5]', 'unlink'],
  ['[3, 5]', 'read'],
  ['[4, 5]', 'read'],
  ['[5]', 'read'],
  ['[6, 0, [5]]', 'read'],
  ['5', 'read'],
])('a link of a many2many field only needs that its records may be read: %s', (command, method) => {
  expect(needs('sale.order/write', `[[1], {"tag_ids": [${command}]}]`)).toEqual([`crm.tag/${method}`]);
});

test('a link that changes rights needs `write`', () => {
  expect(needs('res.groups/write', '[[1], {"users": [[4, 2]]}]')).toEqual(['res.users/write']);
  expect(needs('res.groups/write', '[[1], {"implied_ids": [[6, 0, [2]]]}]')).toEqual(['res.groups/write']);
  expect(needs('project.task/write', '[[1], {"user_ids": [[4, 2]]}]')).toEqual([
    'mail.followers/write',
    'res.users/read',
  ]);
});

describe('values within values are checked by the fields of their model', () => {
  test.each<[string, string, string[]]>([
    [
      'sale.order/create',
      '[[{"order_line": [[0, 0, {"tax_id": [[6, 0, [1]]], "move_ids": [[1, 2, {}]]}]]}]]',
      ['account.tax/read', 'sale.order.line/create', 'stock.move/write'],
    ],
    [
      'crm.lead/write',
      '[[1], {"order_ids": [[1, 3, {"picking_ids": [[1, 4, {"state": "done"}]]}]]}]',
      ['sale.order/write', 'stock.picking/write'],
    ],
    // Python converts pairs into an object.
    [
      'crm.lead/create',
      '[{"tag_ids": [[0, 0, [["lead_ids", [[0, 0, {}]]]]]]}]',
      ['crm.lead/create', 'crm.tag/create'],
    ],
    ['crm.lead/copy', '[[1], [["order_ids", [[2, 5]]]]]', ['sale.order/unlink']],
    [
      'res.partner/write',
      '[[1], {"child_ids": [[0, 0, {"user_ids": [[0, 0, {}]]}]]}]',
      ['res.partner/create', 'res.users/create'],
    ],
    [
      'x.custom/web_save',
      '[[1], {"x_lines": [[0, 0, {"x_user": [[0, 0, {}]]}]]}, {}]',
      ['res.users/create', 'x.custom.line/create'],
    ],
    [
      'x.custom/web_save_multi',
      '[[1], [{"x_orders": [[1, 2, {"tag_ids": [[4, 3]]}]]}], {}]',
      ['crm.tag/read', 'sale.order/write'],
    ],
  ])('%s %s', (name, params, expected) => {
    expect(needs(name, params)).toEqual(expected);
  });
});

test.each<[string, string, string[]]>([
  ['web_tour.tour', '{"user_consumed_ids": [[0, 0, {"login": "x"}]]}', ['res.users/create']],
  ['spreadsheet.dashboard', '{"main_data_model_ids": [[0, 0, {}]]}', ['ir.model/create']],
  ['report.paperformat', '{"report_ids": [[0, 0, {}]]}', ['ir.actions.report/create']],
  ['mail.channel', '{"moderator_ids": [[0, 0, {"login": "x"}]]}', ['res.users/create']],
  ['account.chart.template', '{"tax_template_ids": [[0, 0, {}]]}', ['account.tax.template/create']],
  [
    'account.tour.upload.bill',
    '{"partner_ids": [[0, 0, {}]], "attachment_ids": [[1, 2, {}]], "child_ids": [[2, 3]], "tracking_value_ids": [[5]]}',
    [
      'ir.attachment/write',
      'mail.message/unlink',
      'mail.tracking.value/unlink',
      'mail.tracking.value/write',
      'res.partner/create',
    ],
  ],
  [
    'ir.model',
    '{"access_ids": [[0, 0, {}]], "rule_ids": [[1, 2, {}]]}',
    ['ir.model.access/create', 'ir.rule/write'],
  ],
  ['sale.order', '{"message_ids": [[0, 0, {"body": "a"}]]}', ['mail.message/create']],
  ['sale.order', '{"message_follower_ids": [[0, 0, {"partner_id": 3}]]}', ['mail.followers/create']],
  ['sale.order', '{"message_partner_ids": [[4, 3]]}', ['mail.followers/write', 'res.partner/read']],
  [
    'sale.order',
    '{"activity_ids": [[0, 0, {"user_id": 3}]]}',
    ['mail.activity/create', 'mail.followers/write'],
  ],
  ['sale.order', '{"activity_user_id": 3}', ['mail.activity/write']],
])('%s %s', (model, values, expected) => {
  expect(needs(`${model}/write`, `[[1], ${values}]`)).toEqual(expected);
});

test.each<[string, string, string?]>([
  ['sale.order/write', '[[1], {"name": "a", "amount": 5, "partner_id": 3, "is_locked": true}]'],
  ['sale.order/create', '[[{"name": "a", "phone": false}, {"note": null, "order_line": []}]]'],
  ['sale.order/action_confirm', '[[1, 2]]', '{"context": {"lang": "de_DE", "active_ids": [1, 2]}}'],
  ['sale.order/action_confirm', '[]', '{"ids": [1, 2]}'],
  ['sale.order/message_post', '[[1]]', '{"body": "a", "partner_ids": [1]}'],
  ['sale.order/web_save', '[[1], {"name": "a"}, {"order_line": {"fields": {"name": {}}}}]'],
  ['sale.order/unlink', '[[1, 2]]'],
])('a call without such values needs no types: %s %s %s', (name, params, keyword) => {
  expect(find(name, params, keyword)).toEqual({ needs: [], asks: [] });
});

test('null and false of a write could clear a relation', () => {
  const found = find('sale.order/write', '[[1], {"name": null, "hidden_ids": false}]');
  expect(found).toEqual({ needs: [], asks: ['sale.order'] });
});

test('lists and objects of other fields change nothing', () => {
  expect(needs('sale.order/write', '[[1], {"payload": [[0, 0, {"x": 1}]], "name": {"a": [[5]]}}]')).toEqual(
    [],
  );
  expect(
    needs(
      'sale.order/write',
      '[[1], {"payload": {"order_line": [[5]]}, "name": ["a", [["order_line", [[5]]]]]}]',
    ),
  ).toEqual([]);
});

test('a field that the server does not describe is refused', () => {
  const unknown = { unknown: 'hidden_ids', of: 'sale.order' };
  expect(needs('sale.order/write', '[[1], {"hidden_ids": [[4, 1]]}]')).toEqual(unknown);
  expect(needs('sale.order/create', '[{"hidden_ids": [5]}]')).toEqual(unknown);
  expect(needs('crm.lead/write', '[[1], {"order_ids": [[1, 2, {"hidden_ids": [[3, 1]]}]]}]')).toEqual(
    unknown,
  );
  expect(needs('sale.order/a_method', '[[1], {"hidden_ids": [[4, 1]]}]')).toEqual([]);
});

describe('of an import, each column is checked by its path', () => {
  test.each<[string, string[]]>([
    ['["name", "order_line/name"]', ['sale.order.line/create', 'sale.order.line/write']],
    ['["order_line/id"]', ['sale.order.line/write']],
    ['["order_line"]', ['sale.order.line/write']],
    ['["tag_ids/.id", "tag_ids", "tag_ids:id"]', ['crm.tag/read']],
    ['["order_line/tax_id/id"]', ['account.tax/read', 'sale.order.line/create', 'sale.order.line/write']],
    ['["message_partner_ids"]', ['mail.followers/write', 'res.partner/read']],
    ['["name", "payload", "id"]', []],
  ])('%s', (columns, expected) => {
    expect(needs('sale.order/load', `[${columns}, [["a"]]]`)).toEqual(expected);
    expect(needs('sale.order/load', '[]', `{"fields": ${columns}, "data": []}`)).toEqual(expected);
  });
});

describe('defaults of the context are values of the model of the call, and can be those of another one', () => {
  const withContext = (name: string, context: string) => needs(name, '[[1]]', `{"context": ${context}}`);

  test.each<[string, string, string[]]>([
    [
      'sale.order/create',
      '{"default_order_line": [[0, 0, {"tax_id": [[4, 1]]}]]}',
      ['account.tax/read', 'sale.order.line/create'],
    ],
    ['sale.order/name_create', '{"default_tag_ids": [1, 2]}', ['crm.tag/read']],
    ['sale.order/action_confirm', '{"d\\u0065fault_order_line": [[2, 5]]}', ['sale.order.line/unlink']],
    ['crm.lead/action_confirm', '{"default_groups_id": [[4, 1]]}', ['res.groups/write']],
    ['crm.lead/action_confirm', '{"default_group_ids": [1]}', ['res.groups/write']],
    ['crm.lead/action_confirm', '{"default_code": "x"}', ['ir.actions.server/create']],
    ['sale.order/message_post', '{"default_author_id": 3}', ['mail.mail/create']],
    [
      'sale.order/message_post',
      '{"default_mail_server_id": 3, "default_email_from": ""}',
      ['mail.mail/create'],
    ],
    [
      'crm.lead/create',
      '{"default_email_from": "a@example.com", "default_partner_id": 3}',
      ['res.partner/write'],
    ],
    ['crm.lead/create', '{"default_email_from": "a@example.com"}', []],
    ['crm.lead/create', '{"default_login": "", "default_password": false, "default_tag_ids": false}', []],
    // Links in a default that is no field of the model are taken for those that the name tells.
    ['crm.lead/create', '{"default_tax_ids": [[6, 0, [1]]]}', []],
    ['crm.lead/create', '{"default_type": "lead", "default_team_id": 5, "default_res_id": 7}', []],
    ['account.move/create', '{"default_move_type": "out_invoice", "default_line_ids": []}', []],
    ['crm.lead/create', '{"search_default_order_ids": [[2, 5]], "order_ids": [[2, 5]]}', []],
  ])('%s %s', (name, context, expected) => {
    expect(withContext(name, context)).toEqual(expected);
  });

  const COMMANDS = ['[[0, 0, {}]]', '[[1, 2, {}]]', '[[2, 3]]', '{"a": 1}'];
  const LINKS = ['[5]', '[[3, 5]]', '[[4, 5]]', '[[4, 5, 0]]', '[[6, 0, [5]]]', '[[6, false, [5]]]'];

  test.each([...COMMANDS, ...LINKS])('under a name of no field of the model, %s is refused', (value) => {
    for (const name of ['crm.lead/create', 'crm.lead/action_set_won', 'crm.lead/default_get'])
      expect(withContext(name, `{"default_bank_ids": ${value}}`)).toEqual({
        unknown: 'default_bank_ids',
        of: null,
      });
  });

  test('only a policy for all models allows links there, and no policy allows commands', () => {
    const { types, asked } = { types: new Map(), asked: new Map([['crm.lead', new Set(['bank_ids'])]]) };
    const isFound = (value: string, model: string) => {
      const call = readArguments('[[1]]', `{"context": {"default_bank_ids": ${value}}}`);
      const allows = (...pair: string[]) => pair.join('/') === model;
      return findRelatedWrites('crm.lead', 'action_set_won', call, allows, { types, asked }).found !== null;
    };
    for (const value of LINKS) expect([value, isFound(value, '*/write')]).toEqual([value, false]);
    for (const value of LINKS) expect([value, isFound(value, '*/read')]).toEqual([value, true]);
    for (const value of COMMANDS) expect([value, isFound(value, '*/write')]).toEqual([value, true]);
  });
});

test('an argument that a method takes by name can be a value', () => {
  expect(needs('crm.lead/action_set_lost', '[[1]]', '{"order_ids": [[2, 5]], "ids": [1]}')).toEqual([
    'sale.order/unlink',
  ]);
  expect(needs('crm.lead/action_set_lost', '[[1]]', '{"order_ids": [5]}')).toEqual([
    'sale.order/unlink',
    'sale.order/write',
  ]);
  expect(needs('crm.lead/message_post', '[[1]]', '{"body": "a", "child_ids": [[0, 0, {}]]}')).toEqual([
    'mail.message/create',
  ]);
  expect(needs('crm.lead/a_method', '[[1], {"order_ids": [[2, 5]]}]')).toEqual(['sale.order/unlink']);
});

test('a name with too many different lists is not checked', () => {
  const lists = Array.from({ length: 1001 }, (_, index) => `"a${index}": [1]`);
  expect(needs('sale.order/write', `[[1], {${lists}}]`)).toBe('undetermined');
});
