/**
 * Texts that stand for a moment where a domain compares dates: words of PostgreSQL up to 18, and the terms of 19
 * (`today -7d`). The sandbox refuses the rarer texts, which Odoo takes (docs/odoo-facts.md#compared-dates).
 */
import { isTrue } from '../json/value.ts';
import { printTime } from './environment.ts';
import { Fault } from './fault.ts';
import type { Environment } from './model.ts';
import { isTimeZone, toLocal } from './time-zone.ts';

const daysOff: Readonly<Record<string, number>> = { yesterday: -1, today: 0, tomorrow: 1 };
const others =
  /^(epoch|-?infinity|allballs|\d{8}|[a-z]{3,9}\.? \d.*|(today|now|yesterday|tomorrow) (?![+-]\d{2,}).*)$/i;

/** The day or the time in UTC for which the text stands; undefined if it stands for neither. */
export function readRelativeDate(environment: Environment, text: string): string | undefined {
  if (environment.personality.readsDateTerms) return readTerms(environment, text);
  const days = daysOff[text];
  if (days !== undefined) return `${environment.timeIn(days * dayMs).slice(0, 10)} 00:00:00`;
  if (text === 'now') return environment.now;
  if (others.test(text)) throw refuse(text);
  return undefined;
}

const dayMs = 86_400_000;
const term = /^([+-])(\d+)([dwmyHMS])$/;

function readTerms(environment: Environment, text: string): string | undefined {
  const terms = text.trim().split(/\s+/);
  const isDay = terms[0] === 'today';
  if (isDay || terms[0] === 'now') terms.shift();
  if (terms.some((part) => /^=\w{2,}$|^[+-][a-z]{3,}$/.test(part))) throw refuse(text);
  const parts = terms.map((part) => term.exec(part));
  if (/^\d/.test(text) || parts.includes(null)) return undefined;
  const moment = new Date(`${findNow(environment, isDay).replace(' ', 'T')}Z`);
  for (const [, sign, count, unit = ''] of parts as RegExpExecArray[]) {
    if (isDay && 'HMS'.includes(unit)) throw refuse(text);
    move(moment, Number(`${sign}${count}`), unit);
  }
  return printTime(moment.getTime()).slice(0, isDay ? 10 : 19);
}

/** The current time or day. The day is that of the user's time zone. */
function findNow({ context, now, user }: Environment, isDay: boolean): string {
  const zone = isTrue(context['tz'] ?? null) ? context['tz'] : user['tz'];
  return isDay && isTimeZone(zone) ? `${toLocal(now, zone).slice(0, 10)} 00:00:00` : now;
}

function move(moment: Date, count: number, unit: string): void {
  if (unit === 'm' || unit === 'y') {
    const day = moment.getUTCDate();
    moment.setUTCDate(1);
    moment.setUTCMonth(moment.getUTCMonth() + count * (unit === 'y' ? 12 : 1));
    const last = new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1, 0)).getUTCDate();
    moment.setUTCDate(Math.min(day, last));
    return;
  }
  const ms = { d: dayMs, w: 7 * dayMs, H: 3_600_000, M: 60_000, S: 1000 }[unit] ?? 0;
  moment.setTime(moment.getTime() + count * ms);
}

function refuse(text: string): Fault {
  return new Fault('builtins.NotImplementedError', `The sandbox does not read the date ${text}`);
}
