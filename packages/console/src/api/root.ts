/** Where the proxy is reached: a reverse proxy may add a path before its own paths. */

/** Ends with a slash. The path before the folder of the scripts; while developing, scripts are elsewhere. */
export const ROOT = /^(\/.*\/|\/)assets\/[^/]+$/.exec(new URL(import.meta.url).pathname)?.[1] ?? '/';

/** The address of the proxy, as callers give it to their programs. */
export const readProxyUrl = () => location.origin + ROOT.slice(0, -1);
