/**
 * Determines the address of the public repository for `package.json`: the address of this checkout's remote `origin`.
 */
import { spawnSync } from 'node:child_process';
import { root } from './root.ts';

export interface Repository {
  type: 'git';
  url: string;
  /** The folder of the package. */
  directory: string;
}

/** Null if the checkout has no remote on another host. */
export function findRepository(directory: string): Repository | null {
  const { status, stdout } = spawnSync('git', ['config', '--get', 'remote.origin.url'], {
    cwd: root,
    encoding: 'utf8',
  });
  const url = status === 0 ? normalizeRemote(stdout.trim()) : null;
  return url === null ? null : { type: 'git', url, directory };
}

/**
 * The https address of a git remote, without user, password and query. Null for an address that others cannot fetch: a
 * path, a file, a name without a dot.
 */
export function normalizeRemote(remote: string): string | null {
  const [, host, path] =
    /^(?:git\+)?(?:https|ssh|git):\/\/(?:[^@/]*@)?([^@/:?#]+)(?::\d+)?\/([^?#]+)/.exec(remote) ??
    /^(?:[^@/:]+@)?([^@/:]+):(?!\/)([^?#]+)$/.exec(remote) ??
    [];
  if (host === undefined || path === undefined || !host.includes('.')) return null;
  if (/^\d+(\.\d+){3}$/.test(host)) return null;
  return `git+https://${host}/${path.replace(/\/+$/, '').replace(/\.git$/, '')}.git`;
}
