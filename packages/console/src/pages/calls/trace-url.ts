/** Builds the address of a trace, from the template that the person has set for this browser. */

const SETTING = 'erp-proxy.trace-url';
export const TRACE_PLACE = '{trace_id}';

export function readTraceTemplate(): string {
  return localStorage.getItem(SETTING) ?? '';
}

export function saveTraceTemplate(template: string): void {
  if (template === '') localStorage.removeItem(SETTING);
  else localStorage.setItem(SETTING, template);
}

/** Null if the template is not a web address with the placeholder for the id. */
export function printTraceUrl(template: string, traceId: string): string | null {
  if (!/^https?:\/\//i.test(template) || !template.includes(TRACE_PLACE)) return null;
  const address = template.replaceAll(TRACE_PLACE, encodeURIComponent(traceId));
  return URL.canParse(address) ? address : null;
}
