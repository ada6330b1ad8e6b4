/** Opens an address in the browser of the user. Does nothing if that fails: the user can open the address by hand. */
import { spawn } from 'node:child_process';
import type { Environment } from '../config/read-environment.ts';

export function openBrowser(address: string, env: Environment): void {
  const opener = findOpener(env);
  if (opener === null) return;
  const [program, ...options] = opener;
  const child = spawn(program, [...options, address], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}

/** Null on a machine without a screen. */
function findOpener(env: Environment): [program: string, ...options: string[]] | null {
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  if (process.platform === 'darwin') return ['open'];
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : null;
}
