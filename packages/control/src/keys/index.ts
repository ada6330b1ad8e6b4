/** Client keys and their clients. */
export { type Clients, PROXY_CLIENT, type Refusal, type RefusedToken } from './clients.ts';
export {
  createExpiryNotices,
  type ExpiryNotice,
  type ExpiryNotices,
  LAST_NOTICE_DAYS,
} from './expiry-notices.ts';
export { type Client, createKeys, type KeyChange, KeyInputError, type Keys } from './keys.ts';
export { PERSON_ID, readIssuer } from './person-id.ts';
export { createSlowdown, groupAddress, type Slowdown } from './slowdown.ts';
export { readStoredPolicy, StoredPolicyError } from './stored-policy.ts';
