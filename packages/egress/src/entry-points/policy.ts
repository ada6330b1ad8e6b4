/** Addresses as operators and callers write them, and the setting that allows them. Pure: opens no connections. */
export { type BaseUrl, parseBaseUrl, URL_LENGTH_MAX } from '../base-url.ts';
export { checkOrigin, parseEgressPolicy } from '../policy.ts';
