/** Reads the base address that a caller gives; its form is judged in egress/, where it leads by the step that resolves. */
import { type BaseUrl, parseBaseUrl } from '../../egress/base-url.ts';
import { Denial } from '../terms/denial.ts';

const PATH = 'erp_instance.url';

export function readBaseUrl(text: string): BaseUrl | Denial {
  const address = parseBaseUrl(text);
  return 'problem' in address
    ? new Denial('invalid_request', `\`${PATH}\` ${address.problem}.`, { path: PATH })
    : address;
}
