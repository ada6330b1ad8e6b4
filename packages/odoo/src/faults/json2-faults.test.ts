import { describe, expect, test } from 'vitest';
import { classifyFault } from './faults.ts';
import { translateJson2Fault } from './json2-faults.ts';

const translate = (name: string, message: string) => {
  const { name: to, message: text } = translateJson2Fault({ name, message, arguments: [message, 400] });
  return `${to}: ${text}`;
};

describe('an exception of /json/2', () => {
  test.each([
    [
      'NotFound',
      "the model 'res.nope' does not exist",
      "odoo.exceptions.UserError: Object res.nope doesn't exist",
    ],
    ['NotFound', "the model '$&$1' does not exist", "odoo.exceptions.UserError: Object $&$1 doesn't exist"],
    [
      'NotFound',
      "The method 'a.b' does not exist",
      "builtins.AttributeError: The method 'a.b' does not exist",
    ],
    ['Unauthorized', 'Invalid apikey', 'odoo.exceptions.AccessDenied: Access Denied'],
    ['UnprocessableEntity', 'cannot call a.b with ids', 'builtins.TypeError: cannot call a.b with ids'],
    [
      'UnprocessableEntity',
      'too many positional arguments',
      'builtins.TypeError: too many positional arguments',
    ],
    [
      'UnprocessableEntity',
      "missing a required keyword-only argument: 'a'",
      "builtins.TypeError: missing a required keyword-only argument: 'a'",
    ],
  ])('%s, %s, is translated to that of /jsonrpc', (name, message, expected) => {
    expect(translate(`werkzeug.exceptions.${name}`, message)).toBe(expected);
  });

  test.each([
    ['werkzeug.exceptions.NotFound', 'The requested URL was not found on the server.'],
    ['werkzeug.exceptions.UnprocessableEntity', 'The file cannot be read'],
    ['werkzeug.exceptions.Unauthorized', 'Session expired'],
    ['odoo.exceptions.UserError', "the model 'x' does not exist"],
    ['builtins.ValueError', 'Invalid apikey'],
  ])('%s, %s, is not a mistake in the call of the route, and stays', (name, message) => {
    expect(translate(name, message)).toBe(`${name}: ${message}`);
  });

  test('is translated only if it is the whole body: inside /jsonrpc a method raised it', () => {
    const data = {
      name: 'werkzeug.exceptions.NotFound',
      message: "the model 'x' does not exist",
      arguments: [],
      context: {},
    };
    const options = { debug: false, secrets: [] };
    expect(classifyFault({ code: 0, message: 'Odoo Server Error', data }, options).data.name).toBe(data.name);
    expect(classifyFault(data, options).data.name).toBe('odoo.exceptions.UserError');
  });
});
