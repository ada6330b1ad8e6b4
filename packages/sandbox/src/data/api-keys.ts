/** Seed data: the API keys of the users, and whether users may create keys with calls. */
import { printTime } from '../orm/environment.ts';
import type { Seed } from './seed.ts';
import { seededMs } from './seed-store.ts';
import { users } from './users.ts';

export interface ApiKeyOptions {
  /** When the keys of the seed expire, in milliseconds since 1970; null: never. */
  readonly keysExpireAt: number | null;
  /** Whether users who are not administrators may create and revoke keys with calls (19). */
  readonly programmaticKeys: boolean;
}

export function seedApiKeys({ keysExpireAt, programmaticKeys }: ApiKeyOptions): Seed {
  return {
    'res.users.apikeys': Object.values(users).map(({ userId, login, apiKey }) => ({
      name: `key of ${login}`,
      user_id: userId,
      create_date: printTime(seededMs),
      expiration_date: keysExpireAt === null ? null : printTime(keysExpireAt),
      key: apiKey,
    })),
    'ir.config_parameter': programmaticKeys
      ? [{ key: 'base.enable_programmatic_api_keys', value: 'True' }]
      : [],
  };
}
