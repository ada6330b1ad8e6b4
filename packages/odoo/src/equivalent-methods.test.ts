import { expect, test } from 'vitest';
import { readArguments } from '../test/read-arguments.ts';
import { listEquivalents } from './equivalent-methods.ts';

test.each([
  ['[[], {"name": "a"}, {}]', '{}', ['create']],
  ['[[ ], {"name": "a"}, {}]', '{}', ['create']],
  ['[false, {"name": "a"}, {}]', '{}', ['create']],
  ['[]', '{"vals": {"name": "a"}}', ['create']],
  ['[[1], {"name": "a"}, {}]', '{}', ['write']],
  ['[]', '{"ids": [1], "vals": {"name": "a"}}', ['write']],
  ['[0, {"name": "a"}, {}]', '{}', ['create', 'write']],
  ['[[], {"name": "a"}, {}]', '{"ids": [1]}', ['create', 'write']],
])('web_save creates without ids: %s %s', (params, keyword, methods) => {
  expect(listEquivalents('web_save', readArguments(params, keyword))).toEqual(methods);
});

test('without arguments, web_save can do both', () => {
  expect(listEquivalents('web_save', null)).toEqual(['create', 'write']);
});

test.each([
  ['action_archive', ['write']],
  ['load', ['create', 'write']],
  ['action_confirm', []],
  ['toString', []],
])('%s', (method, methods) => {
  expect(listEquivalents(method, readArguments('[[1]]'))).toEqual(methods);
});

test.each([
  ['{}', []],
  ['{"ids": [1], "context": {}}', []],
  ['{"lost_reason_id": 1}', ['write']],
  ['{"name": "a", "user_id": 6}', ['write']],
])('action_set_lost writes its named arguments: %s', (keyword, methods) => {
  expect(listEquivalents('action_set_lost', readArguments('[[1]]', keyword))).toEqual(methods);
});

test.each([
  ['merge_opportunity', ['write', 'unlink']],
  ['create_and_get_website_url', ['create']],
  ['find_or_create', ['create']],
  ['create_or_replace', ['create', 'write']],
  ['website_publish_button', ['write']],
  ['set_sequence_top', ['write']],
  ['toggle_favorite', ['write']],
  ['create_product_variant', ['product.product/create']],
  ['activity_schedule', ['mail.activity/create']],
  ['activity_feedback', ['mail.activity/write', 'mail.activity/unlink']],
])('%s needs the approvals of %j', (method, methods) => {
  expect(listEquivalents(method, null)).toEqual(methods);
});
