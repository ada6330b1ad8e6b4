import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type RecordedJson2, recordedExecuteKw, recordedJson2 } from '../../test/recorded-protocols.ts';
import { classifyFault, type Fault } from '../faults/faults.ts';
import { classifyJson2Answer } from './json2-answer.ts';

type Answer = Pick<RecordedJson2, 'status' | 'contentType' | 'location' | 'body'>;

const OPTIONS = { debug: false, secrets: [] };
const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

const classify = ({ status = 500, contentType = JSON_TYPE, location = '', body = '' }: Partial<Answer>) =>
  classifyJson2Answer(
    { status, headers: { 'content-type': contentType, location }, body: Buffer.from(body) },
    OPTIONS,
  );
const classifyRecorded = ({ status, contentType, location, body }: RecordedJson2) =>
  classify({ status, contentType, location, body });
const printFault = (name: string, message: string) =>
  JSON.stringify({ name, message, arguments: [message, 400], context: {}, debug: 'Traceback' });
const summarize = ({ code, data: { type, name } }: Fault) => ({ code, type, name });

function findRecorded(name: string): RecordedJson2 {
  const found = recordedJson2.find((recording) => recording.name === name);
  if (!found) throw new Error(`Not recorded: ${name}`);
  return found;
}

function findFault(name: string): Fault {
  const answer = recordedExecuteKw.find((call) => call.name === name)?.answer;
  if (!answer || !('error' in answer)) throw new Error(`Not recorded as an error: ${name}`);
  return classifyFault(answer.error, OPTIONS);
}

/** Calls that are never sent over /json/2, because the mistake is found before. */
const NOT_SENT = ['error-missing-ids-positional'];
/**
 * Sent differently by the recorder: ids and a domain, which /jsonrpc cannot express; and an exchange rate of another
 * day.
 */
const OTHER_CALLS = ['error-ids-on-api-model', 'create-date-datetime'];

describe('a fault recorded over both protocols', () => {
  const both = recordedExecuteKw.filter(
    ({ name, answer }) =>
      'error' in answer &&
      ![...NOT_SENT, ...OTHER_CALLS].includes(name) &&
      recordedJson2.some((recording) => recording.name === name),
  );

  test('exists for enough mistakes', () => {
    expect(both.length).toBeGreaterThan(40);
    for (const name of OTHER_CALLS) expect(() => findRecorded(name)).not.toThrow();
  });

  test.each(both)('has the same code, type and name in both: $name', ({ name }) => {
    const classified = classifyRecorded(findRecorded(name));
    if (!('fault' in classified)) throw new Error(classified.kind);
    expect(summarize(classified.fault)).toStrictEqual(summarize(findFault(name)));
  });

  test.each(both)('has the same message in both if Odoo itself wrote it: $name', ({ name }) => {
    const classified = classifyRecorded(findRecorded(name));
    if (!('fault' in classified)) throw new Error(classified.kind);
    // Python's own error names the class, that of `inspect` does not. The two recordings also have different ids.
    if (classified.fault.data.name === 'builtins.TypeError' && classified.kind === 'signature_differs')
      return;
    const withoutIds = (text: string) => text.replace(/\((7|8)2,\)/, '()');
    const expected = findFault(name);
    expect(withoutIds(classified.fault.message)).toBe(withoutIds(expected.message));
    expect(
      classified.fault.data.arguments.map((item) => (typeof item === 'string' ? withoutIds(item) : item)),
    ).toStrictEqual(
      expected.data.arguments.map((item) => (typeof item === 'string' ? withoutIds(item) : item)),
    );
  });
});

/** Two names for the same mistake. */
test.each([
  ['error-bearer-invalid', 'error-wrong-key'],
  ['error-bearer-invalid', 'no-lockout-wrong-key'],
  ['error-api-private-method', 'exists-recordset'],
  ['error-database-header-unknown', 'error-wrong-db'],
  ['error-database-unknown-and-bearer-invalid', 'error-wrong-db-and-key'],
  ['error-args-array-style', 'error-wrong-kwarg'],
  ['create-positional-vals', 'error-missing-required-arg'],
  ['default-get-fields-list-name', 'error-missing-required-arg'],
  ['search-read-company-not-allowed', 'error-access-company'],
])('%s over /json/2 gets the answer of %s over /jsonrpc', (json2, jsonrpc) => {
  const classified = classifyRecorded(findRecorded(json2));
  if (!('fault' in classified)) throw new Error(classified.kind);
  expect(summarize(classified.fault)).toStrictEqual(summarize(findFault(jsonrpc)));
  if (json2 === 'error-bearer-invalid') expect(classified.fault).toStrictEqual(findFault(jsonrpc));
});

describe('every recorded answer', () => {
  const expected: Record<string, string[]> = {
    database_hidden: ['error-database-header-unknown', 'error-database-unknown-and-bearer-invalid'],
    route_missing: ['error-path-json-3', 'error-json2-does-not-exist-18'],
    signature_differs: [
      'create-positional-vals',
      'default-get-fields-list-name',
      'error-args-array-style',
      'error-ids-on-api-model',
      'error-missing-required-arg',
      'name-search-args-kwarg',
      'read-with-limit-kwarg',
      'read-with-offset-kwarg',
      'search-count-kwarg',
    ],
    bad: [
      'error-basic-auth',
      'error-bearer-empty',
      'error-bearer-missing',
      'error-content-type-missing',
      'error-content-type-text',
      'error-get',
      'error-get-with-body',
      'error-invalid-json',
      'error-path-model-only',
      'error-path-root',
      'error-put',
    ],
  };

  test.each(recordedJson2)('is classified by its status and body: $name', (recording) => {
    const special = Object.entries(expected).find(([, names]) => names.includes(recording.name))?.[0];
    expect(classifyRecorded(recording).kind).toBe(special ?? (recording.status === 200 ? 'result' : 'fault'));
  });

  test('shows no traceback, and no other status of werkzeug in the arguments', () => {
    for (const recording of recordedJson2) {
      const classified = classifyRecorded(recording);
      if (classified.kind !== 'signature_differs') continue;
      expect(classified.fault.data.arguments).toStrictEqual([classified.fault.data.message]);
      expect(classified.fault.data).not.toHaveProperty('debug');
    }
  });
});

describe('an unrecorded answer', () => {
  test.each([413, 429, 502, 503, 504])('of %i is classified by its status, whatever its body', (status) => {
    const body = printFault('werkzeug.exceptions.RequestEntityTooLarge', 'x');
    expect(classify({ status, body }).kind).toBe('status');
    expect(classify({ status, contentType: HTML_TYPE, body: '<html>' }).kind).toBe('status');
  });

  test.each([
    ['odoo.exceptions.LockError', 409, { code: 200, type: 'concurrency_conflict' }],
    ['odoo.exceptions.ConcurrencyError', 409, { code: 200, type: 'concurrency_conflict' }],
    ['psycopg2.errors.SerializationFailure', 500, { code: 200, type: 'concurrency_conflict' }],
    ['odoo.exceptions.AccessDenied', 403, { code: 200, type: 'access_denied' }],
    ['odoo.http.SessionExpiredException', 403, { code: 100, type: 'access_denied' }],
    ['builtins.ZeroDivisionError', 500, { code: 200, type: 'upstream_error' }],
    ['werkzeug.exceptions.NotFound', 404, { code: 404, type: 'upstream_error' }],
    ['werkzeug.exceptions.UnprocessableEntity', 422, { code: 200, type: 'arguments_invalid' }],
  ])('of %s with %i is a fault', (name, status, summary) => {
    const classified = classify({ status, body: printFault(name, 'Something of a method') });
    expect(classified.kind).toBe('fault');
    expect('fault' in classified && summarize(classified.fault)).toStrictEqual({ ...summary, name });
  });

  test.each<[string, Parameters<typeof classify>[0]]>([
    ['a page with 200', { status: 200, contentType: HTML_TYPE }],
    ['200 without a type', { status: 200, contentType: '' }],
    ['another success', { status: 201 }],
    ['nothing', { status: 204, contentType: '' }],
    ['a redirect to another place', { status: 303, location: '/web' }],
    ['a redirect to another scheme', { status: 301, location: 'https://x.example/json/2/a/b' }],
    ['a login of another program', { status: 302, location: 'https://sso.example/login' }],
    ['a page with 401', { status: 401, contentType: HTML_TYPE, body: '<html>' }],
    ['a page with 500', { status: 500, contentType: HTML_TYPE, body: '<html>' }],
    ['JSON of another program', { status: 404, body: '{"detail":"Not Found"}' }],
    ['a message of another program', { status: 500, body: '{"name":"Error","message":"no"}' }],
    ['an envelope of /jsonrpc', { status: 500, body: '{"jsonrpc":"2.0","error":{"data":{}}}' }],
    ['a fault within another', { status: 500, body: '{"name":"a.B","message":"no","data":{"name":"c.D"}}' }],
    ['a list', { status: 500, body: '[]' }],
    ['null', { status: 500, body: 'null' }],
    ['broken JSON', { status: 500, body: '{"name": "odoo.exc' }],
  ])('that is %s is not an answer of Odoo', (_, answer) => {
    expect(classify(answer).kind).toBe('bad');
  });

  test.each<[string, Parameters<typeof classify>[0]]>([
    ['a login behind a prefix', { status: 303, location: '/erp/web/login?redirect=%2Fjson' }],
    ['a login with its origin', { status: 303, location: 'https://x.example/web/login' }],
    ['a page with 403', { status: 403, contentType: HTML_TYPE, body: '<html>' }],
    ['a page with 404', { status: 404, contentType: HTML_TYPE, body: '<!DOCTYPE html>Page Not Found' }],
    ['a page with 405', { status: 405, contentType: HTML_TYPE, body: '<html>' }],
    ['a page with 410', { status: 410, contentType: HTML_TYPE, body: '<html>' }],
  ])('that is %s comes from a server without the route', (_, answer) => {
    expect(classify(answer).kind).toBe('route_missing');
  });

  test('of any bytes never throws', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc
        .record({ name: fc.string(), message: fc.jsonValue(), arguments: fc.jsonValue() })
        .map((v) => JSON.stringify(v)),
    );
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 599 }),
        fc.constantFrom(JSON_TYPE, HTML_TYPE, ''),
        text,
        (status, contentType, body) => {
          expect(classify({ status, contentType, body })).toHaveProperty('kind');
        },
      ),
    );
  });
});

test('a JSON 404 of Odoo 14 or 15 means that there is no such route', () => {
  const error = { code: 404, message: '404: Not Found', data: { name: 'werkzeug.exceptions.NotFound' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error });
  expect(classify({ status: 404, contentType: 'application/json', body })).toEqual({
    kind: 'route_missing',
    isBlocked: false,
  });
});
