/**
 * The members of an error in both protocols. Their order depends on the version (docs/odoo-facts.md#error-code-order,
 * docs/odoo-facts.md#json2-error-body).
 */
import type { JsonObject } from '../json/value.ts';
import { Fault } from '../orm/fault.ts';
import type { Wire } from '../versions/personality.ts';

export function describeFault(fault: Fault, wire: Wire): JsonObject {
  const isBare = fault.name === 'odoo.exceptions.AccessDenied' && !wire.accessDeniedTraceback;
  const print = wire.chainsTracebacks ? printChainedTraceback : printTraceback;
  const debug = isBare ? `${fault.name}: ${fault.message}\n` : print(fault);
  const { name, message } = fault;
  const rest = { message, arguments: fault.arguments, context: {} };
  return wire.debugFirst ? { name, debug, ...rest } : { name, ...rest, debug };
}

export function toFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('builtins.RuntimeError', String(error));
}

/**
 * Prints the traceback of Odoo 14 and 15, which raise each exception again at the end. The frame that raised it first
 * is the last frame before the last cause (docs/odoo-facts.md#chained-traceback).
 */
function printChainedTraceback(fault: Fault): string {
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

type Frame = readonly [file: string, line: number, name: string, code: string];

const outer: readonly Frame[] = [
  ['odoo/http.py', 1954, '_transactioning', 'return service_model.retrying(func, env=self.env)'],
  ['odoo/service/model.py', 137, 'retrying', 'result = func()'],
  ['odoo/api.py', 517, 'call_kw', 'result = getattr(recs, name)(*args, **kwargs)'],
];
const query: Frame = ['odoo/sql_db.py', 347, 'execute', 'res = self._obj.execute(query, params)'];

/**
 * Prints an invented Python traceback. Like real ones it contains server paths and SQL, so that tests detect a leak of
 * `debug` (docs/odoo-facts.md#debug-traceback).
 */
function printTraceback(fault: Fault): string {
  const frames = [...outer, ...findInner(fault)].map(
    ([file, line, name, code]) => `  File "/opt/odoo/${file}", line ${line}, in ${name}\n    ${code}\n`,
  );
  return `Traceback (most recent call last):\n${frames.join('')}${fault.name.replace('builtins.', '')}: ${fault.message}\n`;
}

/** Python raises errors about the arguments of a call in the frame of the call; other errors are raised deeper. */
function findInner({ name, place }: Fault): readonly Frame[] {
  if (place !== null) return [[place[0], 1, place[1], '…']];
  return name.startsWith('builtins.') ? [] : [query];
}
