/** Names of time zones. For an unknown one, Odoo would silently use UTC. Independent of calls. */

/** By name: whether the time zone exists. A check takes some 20 µs. Names are few, and the size is limited. */
const knownTimeZones = new Map<string, boolean>();
const KNOWN_TIME_ZONES_MAX = 1000;
/** Excludes offsets such as "+02:00", which Node accepts and Odoo does not. */
const TIME_ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/;

export function isTimeZone(name: string): boolean {
  if (!TIME_ZONE_NAME.test(name)) return false;
  let isKnown = knownTimeZones.get(name);
  if (isKnown === undefined) {
    isKnown = tryTimeZone(name);
    if (knownTimeZones.size >= KNOWN_TIME_ZONES_MAX) knownTimeZones.clear();
    knownTimeZones.set(name, isKnown);
  }
  return isKnown;
}

function tryTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
