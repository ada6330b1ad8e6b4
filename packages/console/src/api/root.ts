/** The address of the proxy, to which a reverse proxy may add a path. */

/**
 * The path before the folder of the scripts, with a slash at its end. `/` in development, where scripts are elsewhere.
 */
export const ROOT = /^(\/.*\/|\/)assets\/[^/]+$/.exec(new URL(import.meta.url).pathname)?.[1] ?? '/';

/** The address of the proxy that callers give to their programs. */
export const readProxyUrl = () => location.origin + ROOT.slice(0, -1);
