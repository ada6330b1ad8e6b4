/** One mistake has one type, whatever exceptions the versions of Odoo raise for it. */
import { describe, expect, test } from 'vitest';
import { MISTAKES, type Mistake, printDebug, type RaisedFault } from '../../../server/test/mistakes.ts';
import { classifyFault } from './faults.ts';
import { refineFault } from './refine-fault.ts';

const OPTIONS = { debug: false, secrets: [] };
const VERSIONS = ['16', '17', '18', '19'];

function classify({ call }: Mistake, fault: RaisedFault, isJson2 = false) {
  const { name, message } = fault;
  const data = { name, message, arguments: [message], context: {}, debug: printDebug(fault) };
  const classified = classifyFault(isJson2 ? data : { code: 200, message: '', data }, OPTIONS);
  const { model, action, params, keyword = '{}' } = call;
  const sent = { model, method: action, params: Buffer.from(params), keyword: Buffer.from(keyword) };
  return refineFault(classified, sent);
}

test('the table has the seventy commonest mistakes, each with the faults of all four versions', () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(70);
  expect(new Set(MISTAKES.map(({ mistake }) => mistake)).size).toBe(MISTAKES.length);
  for (const { faults } of MISTAKES) {
    expect(Object.keys(faults)).toEqual(expect.arrayContaining(VERSIONS));
    for (const { source } of Object.values(faults)) expect(source).not.toBe('');
  }
});

test.each(MISTAKES)('$mistake: $type in every version', (mistake) => {
  const types = VERSIONS.map((version) => classify(mistake, mistake.faults[version]!).data.type);
  expect(types).toEqual(VERSIONS.map(() => mistake.type));
  const overJson2 = mistake.faults['19 json2'] ?? mistake.faults['19']!;
  // Over /json/2 the ids have a name, so they are not taken for a domain.
  const isOtherCall = overJson2.message.endsWith(' with ids');
  expect(classify(mistake, overJson2, true).data.type).toBe(isOtherCall ? 'query_invalid' : mistake.type);
});

describe('the message for a malformed domain', () => {
  const unwrapped = MISTAKES.filter(({ mistake }) => mistake.startsWith('an unwrapped condition'));

  test.each(unwrapped)('says that a pair of brackets is missing, in every version: $mistake', (mistake) => {
    for (const version of VERSIONS) {
      const { message, data } = classify(mistake, mistake.faults[version]!);
      expect(message).toMatch(/one more pair of brackets/);
      expect(data.status).toBe(422);
      // The answer also has Odoo's own message.
      expect(data.message).toBe(mistake.faults[version]!.message);
    }
  });
});

describe('a fault inside Odoo', () => {
  const raise = (name: string, message: string, frame: [string, string] | undefined) =>
    classify(
      {
        mistake: '',
        type: 'upstream_error',
        faults: {},
        call: { model: 'sale.order', action: 'action_confirm', params: '[[1]]' },
      },
      { name: `builtins.${name}`, message, source: 'made up', ...(frame && { frame }) },
    ).data.type;
  const MODULE: [string, string] = ['odoo/addons/sale/models/sale_order.py', '_compute_amounts'];

  test.each([
    ['TypeError', "'NoneType' object is not subscriptable"],
    ['TypeError', "'bool' object is not iterable"],
    ['TypeError', "object of type 'NoneType' has no len()"],
    ['TypeError', "unhashable type: 'list'"],
    ['TypeError', "'<' not supported between instances of 'NoneType' and 'int'"],
    ['TypeError', "unsupported operand type(s) for +: 'NoneType' and 'int'"],
    ['TypeError', "int() argument must be a string, a bytes-like object or a real number, not 'NoneType'"],
    ['TypeError', 'can only concatenate list (not "dict") to list'],
    ['ValueError', "invalid literal for int() with base 10: ''"],
    ['ValueError', 'could not convert string to float: ""'],
    ['ValueError', 'not enough values to unpack (expected 3, got 2)'],
    ['AttributeError', "'str' object has no attribute 'get'"],
    ['IndexError', 'string index out of range'],
    ['KeyError', 'nope'],
  ])('is not a mistake of the caller: %s: %s', (name, message) => {
    expect(raise(name, message, MODULE)).toBe('upstream_error');
  });

  test.each<[string, string, string, string]>([
    ['TypeError', '%d format: a real number is required, not str', 'odoo/osv/query.py', 'select'],
    ['TypeError', "unhashable type: 'list'", 'odoo/tools/misc.py', '__init__'],
    [
      'AttributeError',
      "'str' object has no attribute 'get'",
      'odoo/addons/mail/models/mail_thread.py',
      'create',
    ],
    [
      'AttributeError',
      "'list' object has no attribute 'items'",
      'odoo/addons/web/models/models.py',
      'web_read',
    ],
    ['ValueError', "invalid literal for int() with base 10: 'x'", 'odoo/service/model.py', 'dispatch'],
    [
      'TypeError',
      'Base.write() missing 1 required positional argument',
      'odoo/addons/x/models/x.py',
      'wrapped',
    ],
  ])('is distinguished from an argument that its framework rejects: %s: %s', (name, message, file, where) => {
    expect(raise(name, message, [file, where])).toBe('arguments_invalid');
  });

  test('is not a mistake of the caller if it occurs while records are sorted or filtered', () => {
    const message = "'<' not supported between instances of 'NoneType' and 'int'";
    for (const name of ['sorted', 'filtered', 'mapped', '<lambda>'])
      expect(raise('TypeError', message, ['odoo/orm/models.py', name])).toBe('upstream_error');
    expect(raise('TypeError', message, ['odoo/fields.py', 'convert_to_column'])).toBe('arguments_invalid');
  });
});

describe('a value that no field of relations takes', () => {
  const FAULTS: Record<string, RaisedFault> = {
    postgresql: {
      name: 'psycopg2.errors.InvalidTextRepresentation',
      message: 'invalid input syntax for type integer: "Gold"\nLINE 1: ...',
      source: 'a server of 18',
    },
    python: {
      name: 'builtins.TypeError',
      message: "unhashable type: 'dict'",
      frame: ['odoo/tools/misc.py', '__init__'],
      source: 'a server of 18',
    },
    added: {
      name: 'builtins.TypeError',
      message: "unhashable type: 'dict'",
      frame: ['odoo/tools/misc.py', 'add'],
      source: 'a server of 18',
    },
  };
  const describeFault = (values: string, fault: string) => {
    const call = { model: 'res.partner', action: 'write', params: `[[1],{"name":"x","tags":${values}}]` };
    return classify({ mistake: '', type: 'arguments_invalid', faults: {}, call }, FAULTS[fault]!).message;
  };

  test.each([
    ['postgresql', '["Gold"]'],
    ['postgresql', '[[6,0,["Gold"]]]'],
    ['postgresql', '[[4,"Gold"]]'],
    ['python', '[{"name":"x"}]'],
    ['python', '{"name":"x"}'],
    ['added', '[[4,{"id":1}]]'],
    ['python', '[[6,0,[{"id":1}]]]'],
  ])('is named: %s, %s', (fault, values) => {
    expect(describeFault(values, fault)).toMatch(/if `tags` is a one2many or many2many field.*many2one/);
  });

  test.each([
    '[1,2]',
    '[]',
    '[[6,0,[1,2]]]',
    '[[0,"virtual_1",{"name":"x"}]]',
    '[[0,0,{"a":["x"]}],[5]]',
    '3',
  ])('but not %s, which such a field takes', (values) => {
    expect(describeFault(values, 'postgresql')).not.toContain('tags');
  });
});

describe('a call with a mistake', () => {
  const refine = (
    [action, params, keyword = '{}']: [string, string, string?],
    name: string,
    message: string,
    model = 'res.partner',
  ) =>
    classify(
      { mistake: '', type: 'query_invalid', faults: {}, call: { model, action, params, keyword } },
      { name, message, source: '' },
    ).data.type;
  const UNKNOWN = 'builtins.RecursionError';

  test.each<[string, [string, string, string?], string]>([
    ['builtins.IndexError', ['search', '[["a","=","b"]]'], 'query_invalid'],
    ['builtins.IndexError', ['search', '[["\\u0026","=","b"]]'], 'query_invalid'],
    ['builtins.IndexError', ['name_search', '["x",["a","=","b"]]'], 'query_invalid'],
    ['builtins.IndexError', ['search', '[]', '{"args":["a","=","b"]}'], 'query_invalid'],
    ['builtins.AttributeError', ['create', '[["x"]]'], 'arguments_invalid'],
    ['builtins.AttributeError', ['write', '[[1],"x"]'], 'arguments_invalid'],
    ['psycopg2.errors.UndefinedFunction', ['unlink', '[[[1]]]'], 'arguments_invalid'],
  ])('and %s for %j: %s', (name, call, type) => {
    expect(refine(call, name, 'something')).toBe(type);
  });

  test.each<[string, [string, string, string?], string]>([
    // Messages that Odoo wrote on purpose are correct.
    ['odoo.exceptions.AccessError', ['search', '[["a","=","b"]]'], 'access_error'],
    ['odoo.exceptions.UserError', ['search', '[["a","=","b"]]'], 'user_error'],
    ['psycopg2.errors.QueryCanceled', ['search', '[["a","=","b"]]'], 'upstream_error'],
    [UNKNOWN, ['search', '[["a","=","b"]]'], 'upstream_error'],
    // Without the frame, a key of the values cannot be distinguished from a key inside Odoo.
    ['builtins.KeyError', ['create', '[{"something":"x"}]'], 'upstream_error'],
    // At least one version accepts these domains.
    ['builtins.IndexError', ['search', '[["&",["a","=","b"],[1,"=",1]]]'], 'upstream_error'],
    ['builtins.IndexError', ['search', '[["\\u0026",["a","=","b"],["c","in",[]]]]'], 'upstream_error'],
    ['builtins.IndexError', ['search_read', '[{}]'], 'upstream_error'],
    ['builtins.IndexError', ['search_read', '[null]'], 'upstream_error'],
    ['builtins.IndexError', ['name_search', '["x",null]'], 'upstream_error'],
    ['builtins.IndexError', ['read', '["3"]'], 'upstream_error'],
    ['builtins.KeyError', ['create', '[{"name":"x"}]'], 'upstream_error'],
    ['builtins.KeyError', ['action_archive', '[[1]]'], 'upstream_error'],
  ])('but %s for %j: %s', (name, call, type) => {
    expect(refine(call, name, 'something')).toBe(type);
  });

  const MODULE = 'odoo/addons/sale/models/sale_order_line.py';
  const raiseIn = (
    frame: [string, string],
    [action, params]: [string, string],
    name: string,
    message: string,
  ) =>
    classify(
      { mistake: '', type: 'upstream_error', faults: {}, call: { model: 'sale.order.line', action, params } },
      { name: `builtins.${name}`, message, source: 'made up', frame },
    ).data.type;

  test.each<[string, string, [string, string]]>([
    // A member that takes an object, and one that takes a list of objects.
    ['TypeError', "unhashable type: 'dict'", ['create', '[{"analytic_distribution":{"12":100}}]']],
    ['TypeError', "'NoneType' object is not subscriptable", ['write', '[[1],{"properties":[{"name":"x"}]}]']],
    ['KeyError', "'name'", ['create', '[{"name":"x"}]']],
    ['KeyError', '0', ['write', '[[1],{"tax_id":[{"id":1}]}]']],
  ])('and %s: %s inside a module for %j is not a mistake of the caller', (name, message, call) => {
    expect(raiseIn([MODULE, '_compute_amount'], call, name, message)).toBe('upstream_error');
  });

  test.each<[string, string, [string, string]]>([
    ['TypeError', "unhashable type: 'dict'", ['odoo/fields.py', 'write_real']],
    ['KeyError', '0', ['odoo/fields.py', 'write_real']],
    ['KeyError', '0', ['odoo/orm/fields_relational.py', 'write_real']],
  ])('and %s: %s in %j is a mistake of the caller', (name, message, frame) => {
    expect(raiseIn(frame, ['write', '[[1],{"tax_id":[{"id":1}]}]'], name, message)).toBe('arguments_invalid');
  });

  test('keeps the type query_invalid, even if the values may also be invalid', () => {
    const call: [string, string] = ['create', '[{"nope":{"a":1}}]'];
    expect(refine(call, 'builtins.ValueError', "Invalid field 'nope' on model 'res.partner'")).toBe(
      'query_invalid',
    );
  });

  test('is not searched if it is larger than a megabyte', () => {
    const call: [string, string] = ['search', `[["${'a'.repeat(2 ** 20)}","=","b"]]`];
    expect(refine(call, 'builtins.IndexError', 'something')).toBe('upstream_error');
  });
});
