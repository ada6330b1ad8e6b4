/** The name of the route in the counters. All unknown paths are `other`. */
export function nameRoute(path: string): string {
  const isInside = (route: string) => path === route || path.startsWith(`${route}/`);
  return whole.find((route) => route === path) ?? prefixes.find(isInside) ?? 'other';
}

const whole = [
  '/',
  '/jsonrpc',
  '/json/version',
  '/doc',
  '/web/health',
  '/web/version',
  '/web/webclient/version_info',
  '/web/database/list',
  '/web/session/get_session_info',
];
const prefixes = ['/json/2', '/doc-bearer', '/web/dataset/call_kw'];
