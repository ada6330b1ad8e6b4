/** Odoo's AND of domains, and the normal form in which every `&` is written. */
import type { Json } from '../json/value.ts';

export function joinDomains(domains: readonly (readonly Json[])[]): readonly Json[] {
  const joined: Json[] = [];
  const full = domains.filter((domain) => domain.length > 0);
  for (const [index, domain] of full.entries()) {
    if (index < full.length - 1) joined.push('&');
    joined.push(...normalizeDomain(domain));
  }
  return joined;
}

export function normalizeDomain(domain: readonly Json[]): readonly Json[] {
  let count = 0;
  for (const item of domain) count += item === '&' || item === '|' ? -1 : item === '!' ? 0 : 1;
  return [...Array<Json>(Math.max(0, count - 1)).fill('&'), ...domain];
}
