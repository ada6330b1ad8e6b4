/**
 * The RPC services of /jsonrpc: common, db and object, with Odoo's order of checks
 * (docs/odoo-facts.md#jsonrpc-check-order).
 */
import { printPython } from '../json/print-python.ts';
import { isObject, type Json, toNumber } from '../json/value.ts';
import { bindArguments, listNames } from '../orm/bind-arguments.ts';
import { callMethod } from '../orm/call-method.ts';
import { accessDenied, Fault, keyError, typeError, valueError } from '../orm/fault.ts';
import type { Instance } from './instance.ts';

/** `address`: the address of the caller. */
export async function callService(
  instance: Instance,
  params: Json,
  address: string,
): Promise<Json | undefined> {
  const { personality } = instance;
  const named = readParams(params);
  if (personality.wire.contextMustBeObject && 'context' in named && !isObject(named['context'] ?? {})) {
    throw typeError('odoo.http.Request.update_context() argument after ** must be a mapping, not str');
  }
  const missing = ['service', 'method', 'args'].filter((name) => !(name in named));
  if (missing.length > 0) {
    throw typeError(
      `${personality.wire.jsonrpcFunction}() missing ${missing.length} required positional argument${missing.length > 1 ? 's' : ''}: ${listNames(missing)}`,
    );
  }
  const method = String(named['method']);
  const args = (Array.isArray(named['args']) ? named['args'] : []) as readonly Json[];
  switch (named['service']) {
    case 'common':
      return callCommon(instance, method, args, address);
    case 'db':
      return callDatabase(instance, method);
    case 'object':
      return callObject(instance, method, args, address);
    default:
      throw personality.wire.oldPages ? unboundService() : keyError(String(named['service']));
  }
}

export function describeVersion({ personality }: Instance): Json {
  const { version, serverVersion } = personality;
  return {
    server_version: serverVersion,
    server_version_info: [version, 0, 0, 'final', 0, ''],
    server_serie: `${version}.0`,
    protocol_version: 1,
  };
}

function readParams(params: Json): Record<string, Json> {
  if (params === null) return {};
  if (isObject(params)) return params;
  const first = Array.isArray(params) ? (params[0] ?? '') : '';
  // Python's dict(list) fails on its first element.
  throw valueError(`dictionary update sequence element #0 has length ${String(first).length}; 2 is required`);
}

async function callCommon(
  instance: Instance,
  method: string,
  args: readonly Json[],
  address: string,
): Promise<Json> {
  if (method === 'version') return describeVersion(instance);
  if (method === 'about') return 'See http://openerp.com';
  if (method !== 'login' && method !== 'authenticate')
    throw new Fault('builtins.NameError', `Method not available ${method}`);
  bindArguments(
    `exp_${method}`,
    method === 'login' ? 'db, login, password' : 'db, login, password, user_agent_env',
    args,
    {},
  );
  instance.openDatabase(String(args[0] ?? ''));
  return (await instance.logIn(String(args[1]), String(args[2]), address)) ?? false;
}

function callDatabase({ personality }: Instance, method: string): Json {
  if (method === 'server_version') return personality.serverVersion;
  // The sandbox runs with list_db = False, as recommended for servers on the internet.
  throw accessDenied();
}

async function callObject(
  instance: Instance,
  method: string,
  args: readonly Json[],
  address: string,
): Promise<Json | undefined> {
  const { texts, rpcArgumentsMin } = instance.personality;
  if (args.length < rpcArgumentsMin) throw texts.tooFewArguments(args.length);
  const [db, uidGiven, key, model, name, ...rest] = args as Json[];
  const uid = readUid(uidGiven ?? null);
  if (method !== 'execute' && method !== 'execute_kw')
    throw new Fault('builtins.NameError', `Method not available ${method}`);
  instance.openDatabase(String(db ?? ''));
  await instance.checkKey(uid, key, address);
  const parameters = method === 'execute' ? 'uid, obj, method, *args' : 'uid, obj, method, args, kw=None';
  bindArguments(method, parameters, [uid, ...args.slice(3)], {});
  const [positional, named] = method === 'execute' ? [rest, {}] : [rest[0] ?? [], rest[1] ?? {}];
  await instance.beginCall(String(model), String(name), uid);
  if (model === 'res.users' && WRITES.has(String(name))) instance.forgetCredentials();
  const environment = instance.environment(uid);
  return environment.store.transact(() =>
    callMethod(
      environment,
      String(model),
      String(name),
      positional as readonly Json[],
      isObject(named) ? named : {},
    ),
  );
}

const unboundService = () =>
  new Fault(
    'builtins.UnboundLocalError',
    "cannot access local variable 'dispatch' where it is not associated with a value",
  );

const WRITES: ReadonlySet<string> = new Set(['create', 'write', 'unlink']);

function readUid(uid: Json): number {
  const number = toNumber(uid);
  if (number !== undefined) return Math.trunc(number);
  if (typeof uid === 'boolean') return Number(uid);
  if (typeof uid === 'string' && /^\s*-?\d+\s*$/.test(uid)) return Number(uid);
  if (typeof uid === 'string')
    throw valueError(`invalid literal for int() with base 10: ${printPython(uid)}`);
  throw typeError("int() argument must be a string, a bytes-like object or a real number, not 'NoneType'");
}
