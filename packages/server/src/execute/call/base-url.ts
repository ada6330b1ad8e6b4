/** Reads the base address in a call. egress/ checks its form, and the step `resolve` checks where it leads. */
import { type BaseUrl, parseBaseUrl } from '../../egress/base-url.ts';
import { Denial } from '../terms/denial.ts';

const PATH = 'erp_instance.url';

export function readBaseUrl(text: string): BaseUrl | Denial {
  const address = parseBaseUrl(text);
  return 'problem' in address
    ? new Denial('invalid_request', `\`${PATH}\` ${address.problem}.`, { path: PATH })
    : address;
}
