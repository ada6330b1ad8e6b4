/** Faults as Odoo 14 and 15 sent them, with chained tracebacks (docs/odoo-facts.md#chained-traceback). */
import { readFileSync } from 'node:fs';
import type { BusinessErrorType } from '@erp-proxy/contract';
import { describe, expect, test } from 'vitest';
import { classifyFault } from './faults.ts';
import { isLoginCooldown } from './login-cooldown.ts';

interface SentFault {
  code: number;
  message: string;
  data: { name: string; debug: string; message: string; arguments: string[]; context: object };
}

/** The type of each recorded mistake. Answers of 16 to 19 to the same mistake have the same type. */
const TYPES: Record<string, BusinessErrorType> = {
  'no-ids': 'arguments_invalid',
  // These versions create the record before they notice that the positional argument is missing.
  'create-kwargs-only': 'validation_error',
  'domain-any': 'query_invalid',
  'leaf-dict': 'query_invalid',
  'unknown-model': 'model_not_found',
  private: 'method_not_found',
  'unknown-method': 'method_not_found',
  unique: 'validation_error',
  'search-kw-domain': 'arguments_invalid',
  'wrong-key': 'access_denied',
  lockout: 'access_denied',
};
/** Mistakes that a rule for the frame recognises if the message is translated. */
const TOLD_BY_FRAME = ['unknown-model', 'private'];

describe.each(['14.0', '15.0'])('Odoo %s', (version) => {
  const file = new URL(`../../../sandbox/recordings/errors-${version}.json`, import.meta.url);
  const answers = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { error: SentFault }>;
  const faultOf = (name: string) => structuredClone(answers[name]!.error);

  test('every recorded fault has a type', () => {
    expect(Object.keys(answers).sort()).toEqual(Object.keys(TYPES).sort());
  });

  test.each(Object.entries(TYPES))('%s is %s', (name, type) => {
    expect(classifyFault(faultOf(name), { debug: false, secrets: [] }).data.type).toBe(type);
  });

  test.each(TOLD_BY_FRAME)('%s has its type in any language', (name) => {
    const fault = faultOf(name);
    fault.data.debug = fault.data.debug.replaceAll(fault.data.message, 'ein übersetzter Text');
    fault.data.message = 'ein übersetzter Text';
    expect(classifyFault(fault, { debug: false, secrets: [] }).data.type).toBe(TYPES[name]);
  });

  test.each(Object.keys(TYPES))('nothing of the traceback of %s is passed on', (name) => {
    const text = JSON.stringify(classifyFault(faultOf(name), { debug: false, secrets: [] }));
    expect(text).not.toMatch(/Traceback|File|<odoo>|\.py|DETAIL|0000000000/);
  });

  test.each(['wrong-key', 'lockout'])(
    'the key in the traceback of %s is removed from what `errors.debug` shows',
    (name) => {
      const secrets = [
        '0000000000000000000000000000000000000000',
        '0000000000000000000000000000000000000003',
      ];
      const { debug } = classifyFault(faultOf(name), { debug: true, secrets }).data;
      expect(debug).toContain('_handle_exception');
      expect(debug).not.toContain('000000000000');
    },
  );

  test('the login cooldown is distinguished from a wrong key, in any language', () => {
    expect(Object.keys(TYPES).filter((name) => isLoginCooldown(faultOf(name)))).toEqual(['lockout']);
    const fault = faultOf('lockout');
    fault.data.debug = fault.data.debug.replaceAll(fault.data.message, 'Zu viele Anmeldeversuche');
    fault.data.message = 'Zu viele Anmeldeversuche';
    expect(isLoginCooldown(fault)).toBe(true);
  });

  test('a method that raises AccessDenied itself is not a cooldown, whatever its name and its message', () => {
    const file = /File "[^"]*res_users\.py"(, line \d+, in _assert_can_auth)/;
    const named = faultOf('lockout');
    expect(named.data.debug).toMatch(file);
    named.data.debug = named.data.debug.replace(file, 'File "/o/odoo/addons/x/models/portal.py"$1');
    expect(isLoginCooldown(named)).toBe(false);
    const told = faultOf('wrong-key');
    const text =
      'No\n  File "/o/addons/base/models/res_users.py", line 1, in _assert_can_auth\nodoo.exceptions.AccessDenied: x';
    told.data.debug = told.data.debug.trimEnd().slice(0, -told.data.message.length) + text;
    told.data.message = text;
    expect(isLoginCooldown(told)).toBe(false);
  });
});

test.each([null, {}, { data: null }, { data: { name: 'odoo.exceptions.AccessDenied', debug: 7 } }, []])(
  '%j is not a cooldown',
  (fault) => {
    expect(isLoginCooldown(fault)).toBe(false);
  },
);
