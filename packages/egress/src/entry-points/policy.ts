/** Addresses as operators and callers write them, and the setting that allows them. Pure: opens no connections. */
export { type BaseUrl, checkOrigin, parseBaseUrl, parseEgressPolicy, URL_LENGTH_MAX } from '../policy.ts';
