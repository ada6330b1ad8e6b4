/**
 * Recognizes answers of a firewall in front of Odoo: a refusal, or a page with a check that only a browser passes.
 * Odoo's own answers to calls are JSON and contain no name of such a product. Pure.
 */
import { type AnswerStatus, readHeader } from './http-status.ts';

export interface Firewall {
  /** The name of the product; null: the answer does not contain it. */
  product: string | null;
  /** Whether the firewall asks for a check in a browser. */
  isChallenge: boolean;
}

/** Headers that these products set only on their own answers: Odoo has not got the request. */
const OWN_ANSWERS: readonly (readonly [header: string, product: string])[] = [
  ['cf-mitigated', 'Cloudflare'],
  ['x-amzn-waf-action', 'AWS WAF'],
];
/** Headers that these products add to all answers that pass through them. */
const PASSED: readonly (readonly [header: string, value: RegExp, product: string])[] = [
  ['cf-ray', /./, 'Cloudflare'],
  ['server', /^cloudflare$/i, 'Cloudflare'],
  ['x-iinfo', /./, 'Imperva'],
  ['x-sucuri-id', /./, 'Sucuri'],
  ['x-datadome', /./, 'DataDome'],
  ['x-azure-ref', /./, 'Azure Front Door'],
  ['server', /^akamaighost$/i, 'Akamai'],
];
/** Statuses with which a firewall refuses. Odoo has no page with them on the paths of calls. */
const REFUSALS: ReadonlySet<number> = new Set([403, 406]);

/** Null: the answer has no sign of a firewall. */
export function findFirewall(answer: AnswerStatus): Firewall | null {
  const own = OWN_ANSWERS.find(([header]) => readHeader(answer, header) !== '');
  if (own !== undefined)
    return { product: own[1], isChallenge: /challenge|captcha/.test(readHeader(answer, own[0])) };
  if (!/^text\/html\b/i.test(readHeader(answer, 'content-type'))) return null;
  const passed = PASSED.find(([header, value]) => value.test(readHeader(answer, header)));
  const product = passed?.[2] ?? null;
  if (REFUSALS.has(answer.status)) return { product, isChallenge: false };
  return answer.status === 200 && product !== null ? { product, isChallenge: true } : null;
}
