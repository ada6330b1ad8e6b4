import { describe, expect, test } from 'vitest';
import { classifyAction, findWrittenModel, isReadOnlyMethod, limitRule } from './methods.ts';

describe('a read-only method', () => {
  test.each([
    'read',
    'search_read',
    'search_count',
    'name_search',
    'formatted_read_group',
    'web_search_read',
    'fields_get',
    'has_access',
    'name_get',
  ])('reads on every model: %s', (method) => {
    expect(isReadOnlyMethod(method)).toBe(true);
    expect(isReadOnlyMethod(method, 'sale.order')).toBe(true);
  });

  test.each([
    'write',
    'create',
    'unlink',
    'copy',
    'action_confirm',
    'message_post',
    'web_save',
    'onchange',
    'default_get',
    'export_data',
    'load',
    'toString',
    '__proto__',
    'constructor',
    'READ',
    'reads',
    '',
  ])('is never assumed: %s', (method) => {
    expect(isReadOnlyMethod(method)).toBe(false);
    expect(isReadOnlyMethod(method, 'res.users')).toBe(false);
  });

  test('can belong to a single model', () => {
    expect(isReadOnlyMethod('context_get', 'res.users')).toBe(true);
    expect(isReadOnlyMethod('context_get', 'x.custom')).toBe(false);
    expect(isReadOnlyMethod('context_get')).toBe(false);
  });

  test.each([
    ['website.route', 'name_search'],
    ['website.route', 'web_name_search'],
    ['iap.account', 'web_read'],
  ])('is none on a model where it writes: %s %s', (model, method) => {
    expect(isReadOnlyMethod(method, model)).toBe(false);
    expect(isReadOnlyMethod('search_read', model)).toBe(true);
    expect(isReadOnlyMethod(method, 'sale.order')).toBe(true);
  });
});

test('the kind of an action is read, write or other', () => {
  expect(classifyAction('search_read')).toBe('read');
  expect(classifyAction('unlink')).toBe('write');
  expect(classifyAction('action_confirm')).toBe('other');
});

test('a limit cuts the ids of read, refuses methods that change records, and is left to Odoo otherwise', () => {
  expect(limitRule('read')).toBe('cut');
  for (const method of ['write', 'unlink', 'copy', 'create']) expect(limitRule(method)).toBe('refuse');
  for (const method of ['search', 'search_read', 'web_read', 'action_confirm', 'constructor']) {
    expect(limitRule(method)).toBe('pass');
  }
});

test.each([
  ['res.partner', 'write', 'res.partner'],
  ['res.partner', 'action_archive', 'res.partner'],
  ['res.partner', 'anything_else', null],
  ['res.users', 'write', null],
  ['ir.rule', 'unlink', null],
])('%s.%s makes kept answers of the model %s stale', (model, method, written) => {
  expect(findWrittenModel(model, method)).toBe(written);
});
