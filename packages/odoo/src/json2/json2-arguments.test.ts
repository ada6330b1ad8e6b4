import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { printedJson } from '../../../json/test/printed-json.ts';
import { countCases, IS_LONG } from '../../../server/test/random-cases.ts';
import { recordedExecuteKw, recordedJson2 } from '../../test/recorded-protocols.ts';
import { classifyFault } from '../faults/faults.ts';
import { parseSignature, type Signature } from '../signatures/signature.ts';
import { findSignature } from '../signatures/signatures.ts';
import { mapArguments } from './json2-arguments.ts';

interface Given {
  params?: string;
  keyword?: string;
  method?: string;
}

function map(signature: string | Signature, { params = '[]', keyword = '{}', method = 'run' }: Given) {
  return mapArguments({
    method,
    signature: typeof signature === 'string' ? parseSignature(signature) : signature,
    params: Buffer.from(params),
    keyword: Buffer.from(keyword),
    secrets: [],
  });
}

/** The body as text, or the reason why there is none. */
function describeMapped(signature: string | Signature, given: Given): string {
  const mapped = map(signature, given);
  if ('body' in mapped) return Buffer.from(mapped.body).toString();
  if ('unmappable' in mapped) return `unmappable: ${mapped.unmappable}`;
  const { name, message, type } = mapped.fault.data;
  expect(type).toBe('arguments_invalid');
  return `${name}: ${message}`;
}

/** Signatures of recorded calls that are not in the table, from signatures-19.0.json. */
const OTHER_SIGNATURES: Record<string, string> = {
  'res.users/context_get': 'model ()',
  'res.users/has_group': 'ids (group_ext_id)',
  'res.users/action_show_groups': 'ids ()',
  'ir.config_parameter/set_param': 'model (key, value)',
  'sale.order/action_confirm': 'ids ()',
  'sale.order/action_quotation_send': 'ids ()',
};

/** Calls that the recorder sent differently over the two protocols: other records or texts, and once no ids. */
const RECORDED_OTHERWISE: Record<string, [jsonrpc: string, json2: string]> = {
  'create-date-datetime': ['"2031-02-04"', '"2031-02-03"'],
  'create-x2many-commands': ['Cat jsonrpc', 'Cat json2'],
  'name-create': ['"Tag 1795225340532"', '"Tag j2 1795225340532"'],
  'error-access-has-access-false': ['"ids":[],', ''],
  'has-access-no-ids': ['"ids":[],', ''],
  // /jsonrpc cannot make this call: ids and a domain for a method of the model.
  'error-ids-on-api-model': ['{"domain":[3],"offset":[]}', '{"ids":[3],"domain":[]}'],
};
const CREATED_RECORDS = /"ids":\[(7[2-9]|8[0-9]|9[01]|2[34])\b[^\]]*\]/;

describe('a recorded call of /jsonrpc', () => {
  const known = recordedExecuteKw.flatMap((call) => {
    const other = OTHER_SIGNATURES[`${call.model}/${call.method}`];
    const signature = findSignature(call.model, call.method) ?? (other && parseSignature(other));
    return signature ? [{ ...call, signature }] : [];
  });

  test('has a known method, or one that does not exist', () => {
    const unknown = recordedExecuteKw.filter((call) => !known.some(({ name }) => name === call.name));
    for (const { name, answer } of unknown) {
      const fault = classifyFault('error' in answer && answer.error, { debug: false, secrets: [] });
      expect(fault.data.type, name).toBe('method_not_found');
    }
    expect(known.length).toBeGreaterThan(140);
  });

  test.each(known)('has the arguments of the same call over /json/2, or its fault: $name', (call) => {
    const mapped = mapArguments({ ...call, secrets: [] });
    if ('unmappable' in mapped) throw new Error(mapped.unmappable);
    if ('fault' in mapped) {
      if (!('error' in call.answer)) throw new Error('Odoo found no fault');
      const { code, data } = classifyFault(call.answer.error, { debug: false, secrets: [] });
      expect({
        code: mapped.fault.code,
        type: mapped.fault.data.type,
        name: mapped.fault.data.name,
      }).toStrictEqual({
        code,
        type: data.type,
        name: data.name,
      });
      return;
    }
    const json2 = recordedJson2.find(
      ({ name, path }) => name === call.name && path.endsWith(`/${call.method}`),
    );
    const text = Buffer.from(mapped.body).toString();
    const [from, to] = RECORDED_OTHERWISE[call.name] ?? ['', ''];
    expect(text).toContain(from);
    if (!json2 || json2.sent === null || !json2.sent.startsWith('{')) return;
    const sent = json2.sent.replace(CREATED_RECORDS, '"ids":[]');
    expect(JSON.parse(text.replace(from, to).replace(CREATED_RECORDS, '"ids":[]'))).toStrictEqual(
      JSON.parse(sent),
    );
  });

  test('that Odoo refused because of its arguments is refused before it is sent', () => {
    const refused = known.filter((call) => 'fault' in mapArguments({ ...call, secrets: [] }));
    expect(refused.map(({ name }) => name).sort()).toStrictEqual([
      'error-create-kwargs-only',
      'error-missing-ids-positional',
      'error-missing-required-arg',
      'error-wrong-kwarg',
      'name-search-args-kwarg',
      'read-kwarg-ids',
      'read-with-limit-kwarg',
      'read-with-offset-kwarg',
      'search-count-kwarg',
    ]);
  });
});

describe('positional arguments', () => {
  test.each([
    ['model (a, b=)', '[]', '{"a":1}', '{"a":1}'],
    ['model (a, b=)', '[ 1.0 , [ 2 ] ]', '{}', '{"a":1.0,"b":[ 2 ]}'],
    ['model (a, b=)', '[1]', '{ "b" : 12345678901234567890 }', '{"a":1,"b" : 12345678901234567890}'],
    ['model ()', '[]', '{}', '{}'],
    ['ids ()', '[[1, 2]]', '{}', '{"ids":[1, 2]}'],
    ['ids ()', '[7]', '{}', '{"ids":7}'],
    ['ids ()', '[-1]', '{}', '{"ids":-1}'],
    ['ids ()', '[["7"]]', '{}', '{"ids":["7"]}'],
    ['ids (vals)', '[[],{"x":1e3}]', '{}', '{"ids":[],"vals":{"x":1e3}}'],
    ['ids (a=, *args, b=, **kwargs)', '[[1],2]', '{"b":3,"c":4}', '{"ids":[1],"a":2,"b":3,"c":4}'],
    ['ids (a=, /, **kwargs)', '[[1]]', '{"a":3}', '{"ids":[1],"a":3}'],
  ])('of %s: %s %s become %s', (signature, params, keyword, body) => {
    expect(describeMapped(signature, { params, keyword })).toBe(body);
  });

  test.each([
    ['ids (a)', '[]', '{"a":1}', 'builtins.IndexError: list index out of range'],
    ['ids (a)', '[]', '{"ids":[1],"a":1}', 'builtins.IndexError: list index out of range'],
    ['ids (a)', '[[1]]', '{"ids":[1],"a":1}', "builtins.TypeError: got an unexpected keyword argument 'ids'"],
    ['ids (a)', '[[1]]', '{}', "builtins.TypeError: missing a required argument: 'a'"],
    ['model (a, *, b)', '[1]', '{}', "builtins.TypeError: missing a required argument: 'b'"],
    ['model (a, *, b=)', '[1,2]', '{}', 'builtins.TypeError: too many positional arguments'],
    ['model (**kwargs)', '[1]', '{}', 'builtins.TypeError: too many positional arguments'],
    ['ids ()', '[[1],2]', '{}', 'builtins.TypeError: too many positional arguments'],
    ['model (a)', '[1]', '{"a":1}', "builtins.TypeError: multiple values for argument 'a'"],
    ['model (a, **kwargs)', '[1]', '{"\\u0061":1}', "builtins.TypeError: multiple values for argument 'a'"],
    ['model (a)', '[1]', '{"b":1}', "builtins.TypeError: got an unexpected keyword argument 'b'"],
    [
      'model (a)',
      '[1]',
      '{"__model__":1}',
      "builtins.TypeError: got an unexpected keyword argument '__model__'",
    ],
    ['model (a)', '[1]', '{"self":1}', "builtins.TypeError: got an unexpected keyword argument 'self'"],
    ['model (*args)', '[]', '{"args":1}', "builtins.TypeError: got an unexpected keyword argument 'args'"],
    ['model (**kwargs)', '[]', '{"kwargs":1}', '{"kwargs":1}'],
    ['model (a, /)', '[]', '{}', "builtins.TypeError: missing a required argument: 'a'"],
    ['model (a, /, **b)', '[]', '{"a":1}', "builtins.TypeError: missing a required argument: 'a'"],
    [
      'model (a=, /)',
      '[]',
      '{"a":1}',
      "builtins.TypeError: 'a' parameter is positional only, but was passed as a keyword",
    ],
    ['model (context)', '[]', '{"context":{}}', "builtins.TypeError: missing a required argument: 'context'"],
  ])('of %s: %s %s get the answer of /jsonrpc: %s', (signature, params, keyword, answer) => {
    expect(describeMapped(signature, { params, keyword })).toBe(answer);
  });

  test.each([
    ['ids ()', '["abc"]', '{}'],
    ['ids ()', '[null]', '{}'],
    ['ids ()', '[true]', '{}'],
    ['ids ()', '[{}]', '{}'],
    ['ids ()', '[3.0]', '{}'],
    ['ids ()', '[3e0]', '{}'],
    ['ids (*args, **kwargs)', '[[1],2]', '{}'],
    ['model (a, *args)', '[1,2]', '{}'],
    ['model (a=, /)', '[1]', '{}'],
    ['model (ids)', '[[1]]', '{}'],
    ['model (ids)', '[]', '{"ids":[1]}'],
    ['ids (**kwargs)', '[[1]]', '{"ids":[2]}'],
    ['ids (**kwargs)', '[[1]]', '{"\\u0069ds":[2]}'],
    ['ids (**kwargs)', '[[1]]', '{"__model__":"res.users"}'],
    ['ids (**kwargs)', '[[1]]', '{"__method__":"unlink"}'],
    ['ids (**kwargs)', '[[1]]', '{"self":1}'],
    ['model (context=)', '[{}]', '{}'],
    ['model (a=)', '[]', '{"a":1,"a":2}'],
    ['model ()', '[]', '{"context":"x"}'],
    ['model ()', '[]', '{"context":1}'],
    ['model ()', '[]', '{"context":[1]}'],
    ['private ids (a)', '[[1]]', '{}'],
  ])('of %s: %s %s cannot be converted with certainty, and are not sent', (signature, params, keyword) => {
    expect(describeMapped(signature, { params, keyword })).toMatch(/^unmappable: /);
  });

  test('of a private method are sent to Odoo, which refuses them itself', () => {
    expect(describeMapped(findSignature('x', 'search_fetch')!, { params: '[[]]' })).toBe('{"domain":[]}');
  });
});

describe('the context', () => {
  test('is passed on unchanged', () => {
    expect(describeMapped('model ()', { keyword: '{"context":{"lang": "fr_FR","x":1.0}}' })).toBe(
      '{"context":{"lang": "fr_FR","x":1.0}}',
    );
  });

  test.each(['null', 'false', '[]', '[ ]'])('of %s is omitted, as /jsonrpc ignores it', (value) => {
    expect(describeMapped('model (a)', { keyword: `{"context":${value},"a":1}` })).toBe('{"a":1}');
    expect(describeMapped('model (a)', { keyword: `{"a":1,"context":${value}}` })).toBe('{"a":1}');
  });
});

describe('create', () => {
  const create = findSignature('res.partner', 'create')!;
  const describeCreate = (given: Given) => describeMapped(create, { ...given, method: 'create' });

  test('takes one record or several', () => {
    expect(describeCreate({ params: '[{"name":"a"}]' })).toBe('{"vals_list":{"name":"a"}}');
    expect(describeCreate({ params: '[[{"name":"a"}]]' })).toBe('{"vals_list":[{"name":"a"}]}');
  });

  test('with named values is refused, like /jsonrpc after its rollback', () => {
    expect(describeCreate({ keyword: '{"vals_list":[{}]}' })).toBe(
      'builtins.IndexError: list index out of range',
    );
    expect(describeCreate({ keyword: '{"vals":[{}]}' })).toBe(
      "builtins.TypeError: got an unexpected keyword argument 'vals'",
    );
  });

  test('on records does not exist in Odoo', () => {
    expect(describeMapped('ids (vals)', { method: 'create', params: '[[1],{}]' })).toMatch(/^unmappable/);
  });
});

describe('a fault', () => {
  test('does not repeat a credential or a long name', () => {
    const keyword = Buffer.from(JSON.stringify({ c0ffee00c0ffee: 1 }));
    const call = { method: 'run', signature: parseSignature('model ()'), params: Buffer.from('[]'), keyword };
    expect(JSON.stringify(mapArguments({ ...call, secrets: ['c0ffee00c0ffee'] }))).not.toContain('c0ffee');
    expect(describeMapped('model ()', { keyword: `{"${'x'.repeat(100_000)}":1}` }).length).toBeLessThan(150);
  });

  test('is found without listing millions of arguments', () => {
    const params = Buffer.from(`[${'0,'.repeat(4_000_000)}0]`);
    const call = {
      method: 'run',
      signature: parseSignature('model (a)'),
      keyword: Buffer.from('{}'),
      secrets: [],
    };
    const before = process.cpuUsage();
    expect(mapArguments({ ...call, params })).toHaveProperty('fault');
    const { user } = process.cpuUsage(before);
    expect(user).toBeLessThan(60_000);
  });
});

describe('any call', () => {
  const names = ['a', 'b', 'c', 'd', 'ids', 'context', 'self', '__model__', 'kwargs'];
  const signature = fc
    .record({
      kind: fc.constantFrom('ids', 'model'),
      required: fc.nat(2),
      optional: fc.nat(2),
      keywordOnly: fc.boolean(),
      star: fc.boolean(),
      rest: fc.boolean(),
    })
    .map(({ kind, required, optional, keywordOnly, star, rest }) => {
      const words = ['a', 'b', 'c', 'd']
        .slice(0, required + optional)
        .map((n, i) => (i < required ? n : `${n}=`));
      if (star) words.push('*args');
      else if (keywordOnly) words.push('*');
      if (keywordOnly) words.push('k=');
      if (rest) words.push('**kwargs');
      return `${kind} (${words.join(', ')})`;
    });
  const value = printedJson.map(({ text }) => text);
  const keyword = fc.dictionary(fc.constantFrom(...names, 'k', 'e'), value, { maxKeys: 4 });

  test('is sent with the bytes of exactly its arguments, or not at all', () => {
    const cases = countCases(2000);
    let sent = 0;
    fc.assert(
      fc.property(
        signature,
        fc.option(fc.array(fc.nat()), { nil: undefined }),
        fc.array(value, { maxLength: 4 }),
        keyword,
        (text, ids, values, named) => {
          const positionals = [...(ids ? [JSON.stringify(ids)] : []), ...values];
          const members = Object.entries(named).map(
            ([name, written]) => `${JSON.stringify(name)}: ${written}`,
          );
          const mapped = map(text, {
            params: `[${positionals.join(' ,')}]`,
            keyword: `{ ${members.join(', ')} }`,
          });
          if (!('body' in mapped)) return;
          sent++;
          // Predicts the arguments that Python would bind.
          const rest = [...positionals];
          const expected: string[] = [];
          const signed = parseSignature(text);
          if (signed.kind === 'ids') expected.push(`"ids":${rest.shift()}`);
          rest.forEach((written, index) => {
            expected.push(`${JSON.stringify(signed.parameters[index]!.name)}:${written}`);
          });
          for (const [name, written] of Object.entries(named)) {
            if (name !== 'context' || written.startsWith('{'))
              expected.push(`${JSON.stringify(name)}: ${written}`);
          }
          const body = Buffer.from(mapped.body).toString();
          expect(body).toBe(`{${expected.join(',')}}`);
          const names = Object.keys(JSON.parse(body));
          expect(names.length).toBe(expected.length);
          for (const reserved of ['self', '__model__', '__method__']) expect(names).not.toContain(reserved);
          expect(names.includes('ids')).toBe(signed.kind === 'ids');
        },
      ),
      { numRuns: cases },
    );
    // About a tenth of the random calls can be sent; with few cases, the share can be much lower.
    expect(sent).toBeGreaterThan(cases / (IS_LONG ? 20 : 50));
  });

  test('with a known method and arguments in order is converted without a fault', () => {
    fc.assert(
      fc.property(fc.array(fc.nat()), value, keyword, (ids, vals, { a = '1' }) => {
        expect(
          describeMapped('ids (vals, a=)', {
            params: `[${JSON.stringify(ids)},${vals}]`,
            keyword: `{"a":${a}}`,
          }),
        ).toBe(`{"ids":${JSON.stringify(ids)},"vals":${vals},"a":${a}}`);
      }),
    );
  });
});
