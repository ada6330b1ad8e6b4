import { readFileSync } from 'node:fs';
import { BUSINESS_ERRORS, type BusinessErrorType } from '@erp-proxy/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCpuBelow } from '../../../server/test/time.ts';
import { classifyFault } from './faults.ts';

const VERSIONS = ['16.0', '17.0', '18.0', '19.0'];
/** The forms in which the recorder masked the two keys. */
const RECORDED_KEYS = ['<UPSTREAM_API_KEY>', '<UPSTREAM_DEMO_API_KEY>'];
const PLAIN = { debug: false, secrets: RECORDED_KEYS };

interface Recording {
  name: string;
  protocol: 'jsonrpc' | 'web' | 'json2';
  status: number;
  body: string;
  version: string;
}

const recordings: Recording[] = VERSIONS.flatMap((version) =>
  readFileSync(new URL(`../../test/data/faults-${version}.jsonl`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ ...JSON.parse(line), version })),
);

function readRecordedFault(recording: Recording) {
  const body = JSON.parse(recording.body);
  return recording.protocol === 'json2' ? body : body.error;
}

/** The mistake of each recorded operation. It is the same in every version and protocol, except for OVER_JSON2. */
const EXPECTED_TYPES: Record<string, BusinessErrorType> = {
  'call-kw-unauthenticated': 'access_denied',
  'check-access-returns-none': 'method_not_found',
  'check-access-rights-raise': 'access_error',
  'copy-missing-record': 'record_missing',
  'copy-two': 'arguments_invalid',
  'create-date-datetime': 'validation_error',
  'create-positional-vals': 'arguments_invalid',
  'database-list': 'access_denied',
  'db-list-disabled': 'access_denied',
  'default-get-fields-list-name': 'arguments_invalid',
  'default-get-product-template': 'arguments_invalid',
  'default-get-product-template-with-ids': 'arguments_invalid',
  'error-access-company': 'access_error',
  'error-access-create': 'access_error',
  'error-access-field-groups': 'access_error',
  'error-access-has-access-false': 'method_not_found',
  'error-access-read-model': 'access_error',
  'error-access-record-rule': 'access_error',
  'error-access-unlink': 'access_error',
  'error-access-write-settings': 'access_error',
  'error-api-private-method': 'method_not_found',
  'error-args-array-style': 'arguments_invalid',
  'error-basic-auth': 'access_denied',
  'error-bearer-empty': 'access_denied',
  'error-bearer-invalid': 'access_denied',
  'error-bearer-missing': 'access_denied',
  'error-body-too-large': 'upstream_error',
  'error-context-not-object': 'arguments_invalid',
  'error-create-bad-date': 'arguments_invalid',
  'error-create-bad-m2o': 'validation_error',
  'error-create-bad-selection': 'arguments_invalid',
  'error-create-bad-vals-type': 'arguments_invalid',
  'error-create-check-constraint': 'validation_error',
  'error-create-kwargs-only': 'arguments_invalid',
  'error-create-missing-required': 'validation_error',
  'error-create-unknown-field': 'query_invalid',
  'error-db-not-odoo': 'database_missing',
  'error-empty-db': 'database_missing',
  'error-empty-key': 'access_denied',
  'error-field-name-as-method': 'method_not_found',
  'error-fk-restrict-unlink': 'user_error',
  'error-fk-restrict-unlink-category': 'validation_error',
  'error-get': 'upstream_error',
  'error-get-with-body': 'upstream_error',
  'error-ids-on-api-model': 'query_invalid',
  'error-ids-string': 'arguments_invalid',
  'error-invalid-json': 'upstream_error',
  'error-missing-ids-positional': 'arguments_invalid',
  'error-missing-record-method': 'record_missing',
  'error-missing-required-arg': 'arguments_invalid',
  'error-non-method-attribute': 'method_not_found',
  'error-null-key': 'access_denied',
  'error-params-array': 'arguments_invalid',
  'error-params-missing': 'arguments_invalid',
  'error-path-model-only': 'upstream_error',
  'error-path-root': 'upstream_error',
  'error-private-method': 'method_not_found',
  'error-put': 'upstream_error',
  'error-read-bad-field': 'query_invalid',
  'error-read-group-bad-field': 'query_invalid',
  'error-search-bad-field': 'query_invalid',
  'error-search-bad-limit': 'arguments_invalid',
  'error-search-bad-operator': 'query_invalid',
  'error-search-bad-order': 'query_invalid',
  'error-search-bad-order-field': 'query_invalid',
  'error-search-domain-polish': 'query_invalid',
  'error-search-domain-string': 'query_invalid',
  'error-search-id-out-of-range': 'arguments_invalid',
  'error-search-malformed-domain': 'query_invalid',
  'error-search-negative-limit': 'arguments_invalid',
  'error-search-read-bad-field': 'query_invalid',
  'error-singleton': 'arguments_invalid',
  'error-singleton-two': 'arguments_invalid',
  'error-too-few-args': 'arguments_invalid',
  'error-too-many-positional': 'arguments_invalid',
  'error-uid-not-a-number': 'arguments_invalid',
  'error-uid-null': 'arguments_invalid',
  'error-uid-of-other-user': 'access_denied',
  'error-uid-superuser': 'access_denied',
  'error-uid-zero': 'access_denied',
  'error-unique-violation': 'validation_error',
  'error-unique-violation-login': 'validation_error',
  'error-unknown-method': 'method_not_found',
  'error-unknown-model': 'model_not_found',
  'error-unknown-service': 'upstream_error',
  'error-unknown-service-method': 'method_not_found',
  'error-unlink-user-partner': 'redirect_warning',
  'error-user-error-confirm-twice': 'user_error',
  'error-user-error-unlink-confirmed': 'user_error',
  'error-validation-recursive': 'validation_error',
  'error-write-missing': 'record_missing',
  'error-wrong-db': 'database_missing',
  'error-wrong-db-and-key': 'database_missing',
  'error-wrong-key': 'access_denied',
  'error-wrong-key-and-model': 'access_denied',
  'error-wrong-kwarg': 'arguments_invalid',
  'error-wrong-uid': 'access_denied',
  'exists-recordset': 'method_not_found',
  'fields-view-get': 'method_not_found',
  'formatted-read-group': 'method_not_found',
  'formatted-read-group-date-sum': 'method_not_found',
  'has-access': 'method_not_found',
  'has-access-no-ids': 'method_not_found',
  'has-group': 'arguments_invalid',
  'id-echo-on-error': 'upstream_error',
  'name-get': 'method_not_found',
  'name-get-missing-record': 'record_missing',
  'name-search-args-kwarg': 'arguments_invalid',
  'name-search-domain-kwarg': 'arguments_invalid',
  'no-lockout-wrong-key': 'access_denied',
  'params-context-not-object': 'arguments_invalid',
  'read-id-string': 'arguments_invalid',
  'read-kwarg-ids': 'arguments_invalid',
  'read-with-limit-kwarg': 'arguments_invalid',
  'read-with-offset-kwarg': 'arguments_invalid',
  'search-args-kwarg': 'arguments_invalid',
  'search-count-args-kwarg': 'arguments_invalid',
  'search-count-kwarg': 'arguments_invalid',
  'search-domain-any-operator': 'query_invalid',
  'search-fetch': 'method_not_found',
  'search-read-company-not-allowed': 'access_error',
  'search-read-context-lang-tz': 'arguments_invalid',
  'session-get-info-unauthenticated': 'access_denied',
  'threaded-error-unknown-method': 'method_not_found',
  'unique-violation-with-lang': 'validation_error',
  'unlink-already-gone': 'record_missing',
  'web-read': 'method_not_found',
  'web-save': 'method_not_found',
  'web-search-read': 'arguments_invalid',
  'write-missing-record': 'record_missing',
};

/** Over /json/2 the ids have a name, so they are not taken for a domain. */
const OVER_JSON2: Record<string, BusinessErrorType> = { 'error-ids-on-api-model': 'arguments_invalid' };

/** What no answer may contain: tracebacks, paths, SQL, and the address of the database. */
const INTERNALS =
  /Traceback|File \\?"|\.py\b|<odoo>|<python>|site-packages|\/usr\/|LINE \d|VALUES \(|SELECT |HINT:|DETAIL:|127\.0\.0\.1|5432|res_partner"|\bFATAL\b|cut by recorder/;

describe('every recorded error', () => {
  test('has a type in the table below, and the table has no other rows', () => {
    expect([...new Set(recordings.map(({ name }) => name))].sort()).toStrictEqual(
      Object.keys(EXPECTED_TYPES).sort(),
    );
  });

  describe.each(VERSIONS)('of Odoo %s', (version) => {
    const ofVersion = recordings.filter((recording) => recording.version === version);

    test.each(ofVersion)('has the type of its mistake: $protocol $name', (recording) => {
      const error = classifyFault(readRecordedFault(recording), PLAIN);
      const { name, protocol } = recording;
      const expected = (protocol === 'json2' ? OVER_JSON2[name] : undefined) ?? EXPECTED_TYPES[name]!;
      expect(error.data.type).toBe(expected);
      expect(error.data.status).toBe(BUSINESS_ERRORS[expected].status);
      expect(error.data.retryable).toBe(false);
      expect(error.message).not.toBe('');
    });

    test.each(ofVersion)('shows nothing of the server: $protocol $name', (recording) => {
      const text = JSON.stringify(classifyFault(readRecordedFault(recording), PLAIN));
      expect(text).not.toMatch(INTERNALS);
      expect(text).not.toContain('API_KEY');
      expect(JSON.parse(text).data).not.toHaveProperty('debug');
    });

    test.each(ofVersion)('has the key removed wherever it occurs: $protocol $name', (recording) => {
      const key = '5f1d"a\\é00c0ffee00c0ffee00c0ffee';
      const fault = readRecordedFault(recording);
      const data = fault.data ?? fault;
      data.message = `${data.message} ${key}x ${JSON.stringify({ key })}`;
      data.arguments = [...data.arguments, key, { [key]: [`a${key}`] }];
      data.context = { ...data.context, key };
      data.debug += `${key} ${JSON.stringify(key)}`;
      const error = classifyFault(fault, { debug: true, secrets: [key] });
      const text = JSON.stringify(error);
      expect(error.data.debug).toBeTypeOf('string');
      expect(text).not.toContain('c0ffee');
    });
  });
});

describe('the code', () => {
  const codesOf = (name: string) =>
    recordings
      .filter((recording) => recording.name === name)
      .map((recording) => classifyFault(readRecordedFault(recording), PLAIN).code);

  test('is 200 for an error of any version and protocol', () => {
    for (const name of [
      'error-read-bad-field',
      'error-unknown-model',
      'error-unknown-method',
      'error-wrong-key',
    ]) {
      const codes = codesOf(name);
      expect(codes.length, name).toBeGreaterThan(2);
      expect(new Set(codes), name).toStrictEqual(new Set([200]));
    }
  });

  test('is 100 for a session and 404 for a missing route', () => {
    expect(codesOf('call-kw-unauthenticated')).toStrictEqual([100, 100, 100, 100]);
    expect(codesOf('error-path-root')).toStrictEqual([404]);
    const missing = {
      name: 'werkzeug.exceptions.NotFound',
      message: '404 Not Found',
      arguments: [],
      context: {},
    };
    expect(classifyFault({ code: 404, message: '404: Not Found', data: missing }, PLAIN).code).toBe(404);
  });
});

const build = (name: string, message: string, debug = '') => ({
  code: 200,
  message: 'Odoo Server Error',
  data: { name, debug, message, arguments: [message], context: {} },
});
const typeOf = (name: string, message: string, debug = '') =>
  classifyFault(build(name, message, debug), PLAIN).data.type;
const buildTraceback = (frame: string, last: string) =>
  `Traceback (most recent call last):\n  File "/opt/odoo/odoo/http.py", line 1652, in _serve_db\n    return x\n  ${frame}\n    y\n    ^\n${last}\n`;

describe('the type of an unrecorded error', () => {
  test.each<[BusinessErrorType, string, string]>([
    [
      'concurrency_conflict',
      'psycopg2.errors.SerializationFailure',
      'could not serialize access due to concurrent update',
    ],
    ['concurrency_conflict', 'psycopg2.errors.DeadlockDetected', 'deadlock detected'],
    [
      'concurrency_conflict',
      'psycopg2.errors.LockNotAvailable',
      'could not obtain lock on row in relation "x"',
    ],
    ['concurrency_conflict', 'psycopg2.extensions.TransactionRollbackError', 'could not serialize access'],
    [
      'concurrency_conflict',
      'psycopg2.OperationalError',
      'could not serialize access due to concurrent update',
    ],
    ['concurrency_conflict', 'odoo.exceptions.LockError', 'Cannot lock'],
    ['concurrency_conflict', 'odoo.exceptions.ConcurrencyError', 'x'],
    [
      'validation_error',
      'psycopg2.errors.UniqueViolation',
      'duplicate key value violates unique constraint "u"',
    ],
    ['validation_error', 'psycopg2.IntegrityError', 'x'],
    ['query_invalid', 'psycopg2.errors.UndefinedColumn', 'column x does not exist'],
    ['query_invalid', 'builtins.ValueError', 'Cannot convert field res.partner.x to SQL'],
    [
      'upstream_error',
      'psycopg2.OperationalError',
      'connection to server at "10.0.0.5", port 5432 failed: Connection refused',
    ],
    ['upstream_error', 'psycopg2.errors.QueryCanceled', 'canceling statement due to statement timeout'],
    ['database_missing', 'psycopg2.OperationalError', 'FATAL:  Datenbank »x« existiert nicht'],
    ['database_missing', 'psycopg.errors.InvalidCatalogName', 'x'],
    ['model_not_found', 'builtins.KeyError', 'sale.order'],
    ['model_not_found', 'builtins.KeyError', "'sale.order'"],
    [
      'record_missing',
      'odoo.exceptions.MissingError',
      'Record does not exist or has been deleted.\n(Record: res.users(7,), User: 2)',
    ],
    [
      'access_denied',
      'odoo.exceptions.MissingError',
      "L'enregistrement n'existe pas.\n(Enregistrement : res.users(7,), utilisateur : 7)",
    ],
    ['upstream_error', 'builtins.KeyError', 'partner'],
    ['upstream_error', 'builtins.ZeroDivisionError', 'division by zero'],
    ['upstream_error', 'requests.exceptions.ConnectionError', 'x'],
    ['upstream_error', 'my.SerializationFailure', 'x'],
  ])('%s: %s %s', (expected, name, message) => {
    expect(typeOf(name, message)).toBe(expected);
  });

  test('a database without the models of Odoo gets a text that says so', () => {
    const { message, data } = classifyFault(build('builtins.KeyError', 'res.users'), PLAIN);
    expect(message).toBe('This database of the server is not one of Odoo: check `db`.');
    expect(data).toMatchObject({ type: 'database_missing', message: 'res.users' });
  });

  test('allows a retry only if Odoo rolled back because of another transaction', () => {
    const error = classifyFault(build('psycopg2.errors.SerializationFailure', 'x'), PLAIN);
    expect(error.data).toMatchObject({ retryable: true, status: 409 });
  });

  test('is determined by the frame if the message is translated', () => {
    const privateTrace = buildTraceback(
      'File "/o/odoo/models.py", line 9, in check_method_name',
      'odoo.exceptions.AccessError: x',
    );
    expect(typeOf('odoo.exceptions.AccessError', 'Les méthodes privées', privateTrace)).toBe(
      'method_not_found',
    );
    const modelTrace = buildTraceback(
      'File "/o/odoo/service/model.py", line 9, in execute_cr',
      'odoo.exceptions.UserError: x',
    );
    expect(typeOf('odoo.exceptions.UserError', "L'objet x n'existe pas", modelTrace)).toBe('model_not_found');
    expect(typeOf('odoo.exceptions.UserError', "L'objet x n'existe pas")).toBe('user_error');
  });

  test('is not determined by frames inside the message of the exception', () => {
    const raised =
      'Traceback (most recent call last):\n  File "/o/odoo/addons/x/models/x.py", line 1, in confirm\n    y\n';
    const chained = (debug: string, last: string) =>
      `${debug}Exception\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "/o/odoo/http.py", line 643, in _handle_exception\n    return super(JsonRequest, self)._handle_exception(exception)\n${last}`;
    const classify = (name: string, message: string, debug: string) =>
      classifyFault({ code: 200, data: { name, message, arguments: [message], debug } }, PLAIN).data.type;
    const text = (frame: string, name: string) => `Sorry\n  File "${frame}\nodoo.exceptions.${name}: x`;

    for (const tail of ['', '\n', '\n\n']) {
      const asModel = text('/o/odoo/service/model.py", line 1, in execute_cr', 'UserError') + tail;
      const last = `odoo.exceptions.UserError: ${asModel}\n`;
      expect(classify('odoo.exceptions.UserError', asModel, raised + last)).toBe('user_error');
      expect(classify('odoo.exceptions.UserError', asModel, chained(raised, last))).toBe('user_error');
      const asCause = `${asModel}\n\nThe above exception was the direct cause of the following exception:\n\nx`;
      const lastCause = `odoo.exceptions.UserError: ${asCause}\n`;
      expect(classify('odoo.exceptions.UserError', asCause, chained(raised, lastCause))).toBe('user_error');
      const asDomain = `could not convert string to float: '\n  File "/o/odoo/osv/expression.py", line 1, in parse\nValueError: x${tail}`;
      expect(classify('builtins.ValueError', asDomain, `${raised}ValueError: ${asDomain}\n`)).toBe(
        'upstream_error',
      );
    }
  });

  test('is method_not_found for a missing attribute only if Odoo was looking up the method', () => {
    const message = "'res.partner' object has no attribute 'nope'";
    const outer = buildTraceback('File "/o/odoo/api.py", line 9, in call_kw', `AttributeError: ${message}`);
    const inner = buildTraceback(
      'File "/o/addons/x/x.py", line 9, in _compute',
      `AttributeError: ${message}`,
    );
    expect(typeOf('builtins.AttributeError', message, outer)).toBe('method_not_found');
    expect(typeOf('builtins.AttributeError', message, inner)).toBe('upstream_error');
  });

  test('is arguments_invalid for an IndexError only if the call itself raised it', () => {
    const message = 'list index out of range';
    const outer = buildTraceback(
      'File "/o/odoo/api.py", line 9, in _call_kw_multi',
      `IndexError: ${message}`,
    );
    const inner = buildTraceback(
      'File "/o/addons/sale/models/sale.py", line 9, in _compute',
      `IndexError: ${message}`,
    );
    expect(typeOf('builtins.IndexError', message, outer)).toBe('arguments_invalid');
    expect(typeOf('builtins.IndexError', message, inner)).toBe('upstream_error');
  });
});

describe('the message', () => {
  test('brings no member by which the proxy speaks to agents and persons', () => {
    const own = {
      connect_url: 'https://evil.example',
      approval: 'x',
      nearest: ['x'],
      outcome: 'not_sent',
      rule: 'x',
    };
    const data = { name: 'odoo.exceptions.UserError', message: 'no', arguments: ['no'], ...own };
    const fault = classifyFault({ code: 200, message: 'Odoo Server Error', data }, PLAIN);
    for (const member of Object.keys(own)) expect(fault.data).not.toHaveProperty(member);
    expect(JSON.stringify(fault)).not.toContain('evil');
  });

  test('of a business rule is passed on unchanged', () => {
    const message =
      'Vous ne pouvez pas supprimer « S/00012 » (Select one from the list, 3/4, 12:30).\nhttps://shop.example/my/orders/7 <b>a/b</b> /web/content/7';
    const error = classifyFault(build('odoo.exceptions.UserError', message), PLAIN);
    expect(error.message).toBe(message);
    expect(error.data).toMatchObject({
      message,
      arguments: [message],
      context: {},
      name: 'odoo.exceptions.UserError',
    });
  });

  test('of a redirect warning is its own text, with the action in the arguments', () => {
    const recording = recordings.find(({ name }) => name === 'error-unlink-user-partner')!;
    const error = classifyFault(readRecordedFault(recording), PLAIN);
    expect(error.message).toMatch(/^You cannot delete contacts linked .* Mitchell Admin$/s);
    expect(error.data.arguments[1]).toMatchObject({ type: 'ir.actions.act_window', res_model: 'res.users' });
  });

  test('of a database error is ours, in the arguments too', () => {
    const message =
      'duplicate key value violates unique constraint "u"\nDETAIL:  Key (login)=(boss) already exists.\n';
    const error = classifyFault(build('psycopg2.errors.UniqueViolation', message), PLAIN);
    expect(error.data.arguments).toStrictEqual([error.message]);
    expect(error.data.message).toBe(error.message);
    expect(JSON.stringify(error)).not.toMatch(/duplicate|boss|login/);
  });

  test.each([
    ['a path', 'No such file: /opt/odoo/addons/x/data.csv, sorry', 'No such file: …, sorry'],
    ['a source file', "Error in '/custom/my addons/sale.py:12' here", "Error in '/custom/my …' here"],
    ['a Windows path', 'Cannot open C:\\odoo\\server\\x.conf now', 'Cannot open … now'],
    ['a frame', 'Bad: File "/srv/x.py", line 3, in run', 'Bad: …'],
    ['a traceback', 'It failed:\nTraceback (most recent call last):\n  File "x"\nE: y', 'It failed:\n…'],
    ['a statement', 'Bad query: SELECT id FROM "res_users" WHERE x', 'Bad query: …'],
    ['the lines of PostgreSQL', 'No.\nDETAIL:  Key (a)=(b) exists.\nGo on.', 'No.\n…\nGo on.'],
    [
      'the address of the database',
      'Oh: connection to server at "10.1.2.3", port 5432 failed',
      'Oh: the connection to the database failed',
    ],
  ])('loses %s', (_, message, expected) => {
    expect(classifyFault(build('odoo.exceptions.UserError', message), PLAIN).message).toBe(expected);
  });

  test('of an unknown class is ours', () => {
    const error = classifyFault(build('requests.exceptions.ConnectionError', "host='10.0.0.5'"), PLAIN);
    expect(JSON.stringify(error)).not.toContain('10.0.0.5');
    expect(error.data).toMatchObject({
      type: 'upstream_error',
      status: 500,
      name: 'requests.exceptions.ConnectionError',
    });
  });

  test('contains the traceback only if the operator enabled that, without the key', () => {
    const debug = 'Traceback: secret-key-1 in /opt/x.py';
    const fault = build('odoo.exceptions.UserError', 'No', debug);
    const secrets = ['secret-key-1'];
    expect(classifyFault(fault, { debug: false, secrets }).data).not.toHaveProperty('debug');
    expect(classifyFault(fault, { debug: true, secrets }).data.debug).toBe('Traceback: *** in /opt/x.py');
  });
});

describe('a credential', () => {
  const clean = (message: string, secret: string) =>
    classifyFault(build('odoo.exceptions.UserError', message), { debug: false, secrets: [secret] }).message;

  test('of eight characters or more is removed inside words too', () => {
    expect(clean('key=abcdefghij!', 'abcdefgh')).toBe('key=***ij!');
  });

  test('of fewer characters is removed as a word, and other words keep their letters', () => {
    expect(clean('The administrator admin said "admin"', 'admin')).toBe('The administrator *** said "***"');
    expect(clean('This is a test', 'is')).toBe('This *** a test');
  });

  test('that is empty removes nothing', () => {
    expect(clean('Text', '')).toBe('Text');
  });

  test('is removed in every encoding: JSON, URL, HTML', () => {
    const secret = `pass&'"\\<é word>`;
    for (const written of [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
      // Python: `quote`, `quote_plus`, and lower-case hex digits.
      'pass%26%27%22%5C%3C%C3%A9%20word%3E',
      'pass%26%27%22%5C%3C%C3%A9+word%3E',
      'pass%26%27%22%5c%3c%c3%a9+word%3e',
      'pass&amp;&#39;&quot;\\&lt;é word&gt;',
      `pass&'\\"\\\\<\\u00e9 word>`,
    ]) {
      expect(clean(`a ${written} b`, secret)).toBe('a *** b');
    }
  });

  test('is removed as a number and as the name of a member', () => {
    const fault = { ...build('odoo.exceptions.UserError', 'No') };
    fault.data.arguments = [1234567890, { '1234567890': 7 }] as never;
    expect(classifyFault(fault, { debug: false, secrets: ['1234567890'] }).data.arguments).toStrictEqual([
      '***',
      { '***': 7 },
    ]);
  });

  test('is removed from any text around it', () => {
    const part = fc.string({ maxLength: 20 });
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9a-f]{40}$/), part, part, (secret, before, after) => {
        expect(clean(`${before}${secret}${after}`, secret)).not.toContain(secret);
      }),
    );
  });

  test('of any characters is removed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (secret) => {
        const text = clean(`key: ${secret} ${JSON.stringify(secret)}`, secret);
        if (secret.length >= 8) expect(text).not.toContain(secret);
      }),
    );
  });

  test('does not leave a part behind if a long text is shortened', () => {
    const secret = 'c0ffee'.repeat(7);
    const message = clean(`${'x '.repeat(16_380)}${secret}`, secret);
    expect(message).not.toContain('c0ffee');
    for (let shift = 0; shift < 45; shift++) {
      const text = `${' '.repeat(shift)}${`${secret} `.repeat(4_000)}`;
      expect(clean(text, secret)).not.toContain('c0ff');
      const data = { name: 'odoo.exceptions.UserError', message: 'No', arguments: [], debug: text };
      const { debug } = classifyFault({ code: 200, data }, { debug: true, secrets: [secret] }).data;
      expect(debug).toContain('***');
      expect(debug).not.toMatch(/c0|ff|ee/);
    }
  });
});

describe('a malformed fault', () => {
  test.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [[]],
    [{}],
    [{ data: null }],
    [{ code: 'x', data: 'text' }],
    [{ code: 200, message: 'Odoo Server Error' }],
    [{ data: { name: 7, message: {}, arguments: {}, context: [], debug: 5 } }],
    [{ data: [] }],
  ])('is an upstream_error with a message of ours: %j', (fault) => {
    const error = classifyFault(fault, { debug: true, secrets: ['k'] });
    expect(error).toMatchObject({
      code: 200,
      message: expect.stringMatching(/^Odoo failed/),
      data: { type: 'upstream_error', name: '', context: {} },
    });
  });

  test('of any JSON value does not throw', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string(),
      fc.constantFrom('builtins.KeyError', 'psycopg2.errors.X'),
    );
    const fault = fc.oneof(
      fc.jsonValue(),
      fc.record({
        code: value,
        message: value,
        data: fc.oneof(
          value,
          fc.record({ name: value, message: value, arguments: value, context: value, debug: value }),
        ),
      }),
    );
    fc.assert(
      fc.property(fault, (input) => {
        const { type } = classifyFault(input, { debug: true, secrets: ['key-1', 'a'] }).data;
        expect(BUSINESS_ERRORS).toHaveProperty(type);
      }),
    );
  });

  test('of any depth and size gives a small answer, in time that grows with its size only', async () => {
    const prepare = (name: string, filler: string, share: number) => {
      const deep = JSON.parse(`${'['.repeat(5_000 * share)}1${']'.repeat(5_000 * share)}`);
      const wide = Array.from({ length: 50_000 * share }, (_, index) => `item ${index}`);
      const long = filler.repeat((1_000_000 * share) / filler.length);
      const data = {
        name,
        message: long,
        arguments: [deep, long, wide],
        context: { deep, wide, long },
        debug: long,
      };
      const fault = { code: 200, message: long, data };
      return () => classifyFault(fault, { debug: true, secrets: ['some-secret', 'k'] });
    };
    for (const name of ['odoo.exceptions.UserError', 'builtins.ValueError', 'psycopg2.OperationalError']) {
      for (const filler of [
        'x',
        '/a-',
        'SELECT ',
        ' File "',
        '<a/',
        '1.',
        '\n',
        'FROM SELECT ',
        "'a.",
        'Key '.repeat(3),
      ]) {
        const classify = prepare(name, filler, 1);
        expect(JSON.stringify(classify()).length).toBeLessThan(1_000_000);
        // Quadratic work would take a hundred times as long.
        await expectCpuBelow(20, classify, prepare(name, filler, 0.1), filler);
      }
    }
  });

  test.each<[string, Partial<Record<'name' | 'message' | 'debug', string>> & { arguments?: unknown[] }]>([
    [
      'FATAL',
      { name: 'psycopg2.OperationalError', message: 'FATAL:'.repeat(340) + 'database "'.repeat(200) },
    ],
    [
      'Datenbank',
      { name: 'psycopg2.OperationalError', message: 'FATAL:'.repeat(200) + 'Datenbank '.repeat(280) },
    ],
    ['SELECT', { message: 'SELECT '.repeat(4_681), arguments: Array(4).fill('SELECT '.repeat(4_681)) }],
    [
      'a frame',
      {
        name: 'builtins.ValueError',
        debug: `\n  File "${'/models.py", line 1'.repeat(400_000)}", line 1, in x\nValueError: x`,
      },
    ],
  ])('with crafted texts takes no longer than one of the same size without them: %s', async (_, crafted) => {
    const prepare = (change: (text: string) => string) => {
      const data = Object.fromEntries(
        Object.entries({
          name: 'odoo.exceptions.UserError',
          message: 'x',
          arguments: [],
          debug: '',
          ...crafted,
        }).map(([member, value]) => [
          member,
          member === 'name' ? value : typeof value === 'string' ? change(value) : value.map(change as never),
        ]),
      );
      return () => classifyFault({ code: 200, data }, { debug: false, secrets: ['some-secret'] });
    };
    const plain = prepare((text) => text.replaceAll(/[A-Z]{2,}|[/"]/g, (found) => 'x'.repeat(found.length)));
    // At most one and a half times as long. Quadratic work would take thousands of times as long.
    await expectCpuBelow(
      5,
      prepare((text) => text),
      plain,
    );
  });

  test('cannot reach a prototype', () => {
    const context = JSON.parse('{"__proto__": {"polluted": 1}}');
    const fault = { name: 'odoo.exceptions.UserError', message: 'No', arguments: [], context };
    const error = classifyFault(fault, PLAIN);
    expect(JSON.stringify(error.data.context)).toBe('{"__proto__":{"polluted":1}}');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
