/** The users' API keys of the seed, and whether the company lets keys be made by call. */
import { printTime } from '../orm/environment.ts';
import type { InstanceOptions } from '../rpc/instance.ts';
import type { Seed } from './seed-store.ts';
import { users } from './users.ts';

export function seedApiKeys({
  keysExpireAt,
  programmaticKeys,
}: Pick<InstanceOptions, 'keysExpireAt' | 'programmaticKeys'>): Seed {
  return {
    'res.users.apikeys': Object.values(users).map(({ userId, login, apiKey }) => ({
      name: `key of ${login}`,
      user_id: userId,
      expiration_date: keysExpireAt === null ? null : printTime(keysExpireAt),
      key: apiKey,
    })),
    'ir.config_parameter': programmaticKeys
      ? [{ key: 'base.enable_programmatic_api_keys', value: 'True' }]
      : [],
  };
}
