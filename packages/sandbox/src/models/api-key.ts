/**
 * API keys of users (docs/odoo-facts.md#api-key-form): who sees them, and how 19 creates and revokes them with calls.
 */
import { randomBytes } from 'node:crypto';
import type { Json } from '../json/value.ts';
import { accessDenied, accessError, userError, validationError } from '../orm/fault.ts';
import { char, datetime, many2one } from '../orm/field.ts';
import type { Environment, Field, Method, ModelSpec } from '../orm/model.ts';
import { parseValue } from '../orm/parse-value.ts';
import type { Row } from '../orm/row.ts';
import { allIds } from '../orm/row-source.ts';

const modelName = 'res.users.apikeys';
const limitByDefault = 10;
/** The maximum duration, in days: `api_key_duration` of the group of internal users. */
const daysMax = 90;

/** The unexpired key with this text that is valid for the scope. A key without a scope is valid for every scope. */
export function findApiKey(environment: Environment, key: Json, scope = 'rpc'): Row | undefined {
  return listLiveKeys(environment).find(
    (row) => row['key'] === key && [null, scope].includes((row['scope'] as string | undefined) ?? null),
  );
}

function listLiveKeys({ store, now }: Environment): Row[] {
  return [...store.table(modelName).scan(allIds)].filter(
    ({ expiration_date }) => typeof expiration_date !== 'string' || expiration_date >= now,
  );
}

const generate: Method = {
  owner: '$class',
  kind: 'model',
  parameters: 'key, scope, name, expiration_date',
  run: ({ environment, model, values }) => {
    checkMayManage(environment);
    const { key = null, name = null } = values;
    const scope = values['scope'] || null;
    const field = model.fields.get('expiration_date') as Field;
    const expiresOn = parseValue(environment, model, field, values['expiration_date'] ?? null);
    const limit = Number(readParameter(environment, 'base.programmatic_api_keys_limit') ?? limitByDefault);
    const own = listLiveKeys(environment).filter((row) => row['user_id'] === environment.uid);
    if (own.length >= limit)
      throw userError(`Limit of ${limit} API keys is reached for programmatic creation`);
    if (findApiKey(environment, key, String(scope ?? 'rpc'))?.['user_id'] !== environment.uid)
      throw accessDenied('The provided API key is invalid or does not belong to the current user.');
    checkExpiry(environment, expiresOn);
    const made = randomBytes(20).toString('hex');
    const id = environment.store.nextId(modelName);
    environment.store.put(modelName, id, {
      id,
      name,
      user_id: environment.uid,
      scope,
      create_date: environment.now,
      expiration_date: expiresOn,
      key: made,
    });
    return made;
  },
};

const revoke: Method = {
  owner: '$class',
  kind: 'model',
  parameters: 'key',
  run: ({ environment, values }) => {
    checkMayManage(environment);
    const found = listLiveKeys(environment).find((row) => row['key'] === values['key']);
    if (!found) throw accessDenied('The provided API key is invalid.');
    if (found['user_id'] !== environment.uid && !environment.hasGroup('base.group_system'))
      throw accessError("You can not remove API keys unless they're yours or you are a system user");
    environment.store.put(modelName, found['id'] as number, undefined);
    return true;
  },
};

function checkMayManage(environment: Environment): void {
  const isEnabled = /^(1|true)$/i.test(
    String(readParameter(environment, 'base.enable_programmatic_api_keys')),
  );
  if (!isEnabled && !environment.hasGroup('base.group_system'))
    throw userError('Programmatic API keys are not enabled');
}

function readParameter({ store }: Environment, key: string): Json {
  return store.table('ir.config_parameter').where('key', key)[0]?.['value'] ?? null;
}

function checkExpiry(environment: Environment, expiresOn: Json): void {
  if (environment.hasGroup('base.group_system')) return;
  if (typeof expiresOn !== 'string') throw validationError('The API key must have an expiration date');
  const latest = environment.timeIn(daysMax * 86_400_000);
  if (expiresOn > latest) throw validationError(`You cannot exceed ${daysMax}.0 days.`);
  if (expiresOn < environment.now) throw validationError('You cannot set an expiration date in the past.');
}

export const apiKey: ModelSpec = {
  name: modelName,
  description: 'Users API Keys',
  logAccess: false,
  access: { write: [], create: [], unlink: [] },
  rule: (environment) =>
    environment.hasGroup('base.group_system') ? [] : [['user_id', '=', environment.uid]],
  // The text of the key is a column of the table but no field, so nobody can read it.
  fields: {
    name: char('Description', { required: true, readonly: true }),
    user_id: many2one('User', 'res.users', { required: true, readonly: true, ondelete: 'cascade' }),
    scope: char('Scope', { readonly: true }),
    create_date: datetime('Creation Date', { readonly: true }),
    expiration_date: datetime('Expiration Date', { readonly: true }),
  },
  methods: { generate, revoke },
};
