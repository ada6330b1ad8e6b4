/** Reads the base address in a call. The egress guard checks its form, and the step `resolve` checks where it leads. */
import { type BaseUrl, parseBaseUrl } from '@erp-proxy/egress/policy';
import { Denial } from '../terms/denial.ts';

const PATH = 'erp_instance.url';

/** By text: valid addresses. To parse one takes several µs. Servers are few, and the size is limited. */
const knownAddresses = new Map<string, BaseUrl>();
const KNOWN_ADDRESSES_MAX = 1000;

export function readBaseUrl(text: string): BaseUrl | Denial {
  const known = knownAddresses.get(text);
  if (known !== undefined) return known;
  const address = parseBaseUrl(text);
  if ('problem' in address)
    return new Denial('invalid_request', `\`${PATH}\` ${address.problem}.`, { path: PATH });
  if (knownAddresses.size >= KNOWN_ADDRESSES_MAX) knownAddresses.clear();
  knownAddresses.set(text, Object.freeze(address));
  return address;
}
