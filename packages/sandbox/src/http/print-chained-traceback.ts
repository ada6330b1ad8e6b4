/**
 * Prints the traceback of Odoo 14 and 15, which raise each exception again at the end. The frame that raised it first
 * is the last frame before the last cause (docs/odoo-facts.md#chained-traceback).
 */
import type { Fault } from '../orm/fault.ts';

export function printChainedTraceback(fault: Fault): string {
  const [file, name] = findPlace(fault);
  const shown = `${fault.name.replace('builtins.', '')}: ${fault.message}`;
  return [
    'Traceback (most recent call last):\n',
    printFrame('addons/base/models/ir_http.py', 237, '_dispatch', 'result = request.dispatch()'),
    printFrame('service/model.py', 175, 'execute', 'res = execute_cr(cr, uid, obj, method, *args, **kw)'),
    printFrame(file, 954, name, 'raise'),
    'Exception\n',
    '\nThe above exception was the direct cause of the following exception:\n\n',
    'Traceback (most recent call last):\n',
    printFrame('http.py', 639, '_handle_exception', 'return super(JsonRequest, self)._handle_exception(e)'),
    printFrame('http.py', 315, '_handle_exception', 'raise exception.with_traceback(None) from new_cause'),
    `${shown}\n`,
  ].join('');
}

function printFrame(file: string, line: number, name: string, code: string): string {
  return `  File "/opt/odoo/odoo/${file}", line ${line}, in ${name}\n    ${code}\n`;
}

/** By class and message: the frame of a fault that recordings show and the fault itself does not contain. */
const PLACES: readonly (readonly [RegExp, file: string, name: string])[] = [
  [/AccessDenied: Too many/, 'addons/base/models/res_users.py', '_assert_can_auth'],
  [/AccessDenied/, 'addons/base/models/res_users.py', '_check_credentials'],
  [/UserError: Object \S+ doesn't exist/, 'service/model.py', 'execute_cr'],
  [/AccessError: Private methods/, 'models.py', 'check_method_name'],
  [/AttributeError: .* has no attribute/, 'api.py', 'call_kw'],
  [/IndexError/, 'api.py', '_call_kw_multi'],
  [/TypeError/, 'api.py', '_call_kw_model'],
  [/ValidationError/, 'service/model.py', 'wrapper'],
];

function findPlace({ name, message, place: known }: Fault): readonly [file: string, name: string] {
  if (known !== null) return [known[0].replace(/^odoo\//, ''), known[1]];
  const shown = `${name}: ${message}`;
  const [, file = 'models.py', place = '_read'] = PLACES.find(([pattern]) => pattern.test(shown)) ?? [];
  return [file, place];
}
