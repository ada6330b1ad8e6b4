/** Addresses as operators and callers write them, and the setting that allows them. Pure: loads no sockets. */
export { type BaseUrl, parseBaseUrl, URL_LENGTH_MAX } from '../base-url.ts';
export { checkOrigin, parseEgressPolicy } from '../policy.ts';
