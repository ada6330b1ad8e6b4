/** Reads times from command options: a duration such as 12h, or a point in time. */
import { CommandError } from './command.ts';

const UNITS_MS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration. `option` is the option's name in an error. */
export function readDurationMs(option: string, text: string): number {
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return durationMs;
  throw new CommandError(
    `--${option} "${text}" is not a time: give minutes, hours or days, as in 30m, 12h or 90d.`,
  );
}

/** The time at which a duration from now ends; null for `never`. */
export function readExpiry(option: string, text: string): string | null {
  return text === 'never' ? null : formatMoment(Date.now() + readDurationMs(option, text));
}

/**
 * Converts a duration to the point in time that is this long ago. A given point in time is returned unchanged; the
 * admin service checks it.
 */
export function readMoment(option: string, text: string): string {
  const durationMs = parseDurationMs(text);
  if (durationMs !== null) return formatMoment(Date.now() - durationMs);
  if (/^\d{4}-\d\d-\d\d/.test(text)) return text;
  throw new CommandError(`--${option} "${text}" is not a time: give 7d, 2026-03-01 or 2026-03-01T08:00:00Z.`);
}

function parseDurationMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? null : Number(count) * (UNITS_MS[unit] as number);
}

function formatMoment(at: number): string {
  return new Date(at).toISOString();
}
