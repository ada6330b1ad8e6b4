/** The unknown name is found in the texts of all versions, and in no other text. */
import { expect, test } from 'vitest';
import { MISTAKES } from '../../../server/test/mistakes.ts';
import { classifyFault } from './faults.ts';
import { findUnknownName } from './unknown-name.ts';

function find(fault: { name: string; message: string; debug?: string }, call = {}) {
  const data = { arguments: [fault.message], context: {}, debug: '', ...fault };
  const classified = classifyFault({ code: 200, message: '', data }, { debug: false, secrets: [] });
  const found = findUnknownName(classified, { model: 'res.partner', method: 'search_read', ...call });
  if (found === null) return null;
  return found.kind === 'model' ? found.name : `${found.model} ${found.name}`;
}

const UNKNOWN: Record<string, string> = {
  'a field in place of a method': 'res.partner name',
  'an attribute in place of a method': 'res.partner env',
  'an unknown method': 'res.partner nope',
  'an unknown model': 'res.nope',
  'create: an unknown field': 'res.partner nope',
  'read: an unknown field': 'res.partner nope',
  // Odoo takes the text as a list of letters.
  'read: a text for the fields': 'res.partner n',
  'search_read: a text for the fields': 'res.partner n',
  'search_read: a text for the fields by name': 'res.partner n',
  'read_group: an unknown field': 'res.partner nope',
  'search: an order by an unknown field': 'res.partner nope',
  'search: an unknown field': 'res.partner nope',
  'search_read: an unknown field': 'res.partner nope',
  'write: an unknown field of a contact': 'res.partner nope',
  'write: an unknown field of another model': 'crm.tag nope',
};

test.each(MISTAKES)('$mistake', ({ mistake, call, faults }) => {
  for (const [version, { name, message, frame }] of Object.entries(faults)) {
    const debug =
      frame && `  File "/usr/lib/${frame[0]}", line 1, in ${frame[1]}\n${name.split('.').at(-1)}: x\n`;
    const found = find(
      { name, message, ...(debug && { debug: `Traceback (most recent call last):\n${debug}` }) },
      { model: call.model, method: call.action },
    );
    expect(found ?? undefined, `${version}: ${message}`).toBe(UNKNOWN[mistake]);
  }
});

test.each<[string, string, string | null]>([
  ['builtins.ValueError', "Invalid field res.country.nope in leaf ('nope', '=', 1)", 'res.country nope'],
  [
    'builtins.ValueError',
    "Invalid field sale.order.line.x_a in condition ('x_a', '=', 1)",
    'sale.order.line x_a',
  ],
  ['builtins.ValueError', "Invalid field 'nope' on model 'res.partner' for 'nope:sum'.", 'res.partner nope'],
  ['builtins.ValueError', "Invalid field \"it's\" on model 'res.partner'", "res.partner it's"],
  ['builtins.ValueError', "Invalid field 'country_id.nope' on 'res.partner'", 'res.partner country_id.nope'],
  ['odoo.exceptions.UserError', "Unknown field 'nope' in 'groupby'", 'res.partner nope'],
  ['odoo.exceptions.UserError', "Invalid field specification 'nope'.", null],
  ['builtins.ValueError', "Invalid field '' on model 'res.partner'", null],
  ['builtins.ValueError', `Invalid field '${'x'.repeat(201)}' on model 'res.partner'`, null],
  ['builtins.ValueError', "Invalid field 'a' on model 'b c'", null],
  ['builtins.ValueError', "Invalid leaf ('name', 'badop', 'x')", null],
  ['builtins.KeyError', "'sale.report'", null],
  ['odoo.exceptions.UserError', "Field 'nope' is invalid", null],
])('%s: %s', (name, message, expected) => {
  expect(find({ name, message })).toBe(expected);
});

test('a model that a module lacks is not taken for that of the call', () => {
  const raised = { name: 'builtins.KeyError', message: "'res.nope'" };
  expect(find(raised, { model: 'res.nope' })).toBe('res.nope');
  expect(find(raised)).toBeNull();
});
