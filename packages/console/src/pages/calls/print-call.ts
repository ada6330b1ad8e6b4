/** Prints members of records for lists. Pure. */
import type { AuditCallView } from '@erp-proxy/contract';

/** Prints the method, for example `res.partner.search_read`. */
export function nameCall({ model, action }: Pick<AuditCallView, 'model' | 'action'>): string {
  return [model, action].filter((part) => part !== null).join('.') || '–';
}

/** The instance, or the server and database of a call with its own credentials. */
export function nameTarget({
  instance,
  upstream,
  db,
}: Pick<AuditCallView, 'instance' | 'upstream' | 'db'>): string {
  return instance ?? ([upstream, db].filter((part) => part !== null).join(' ') || '–');
}

export function printMs(durationMs: number): string {
  if (durationMs < 10) return `${durationMs.toFixed(1)} ms`;
  return durationMs < 10_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}
