/**
 * The shared state of circuit breakers in Redis, changed by atomic scripts with the clock of Redis.
 *
 * - record: a hash for each database whose breaker opened recently: since when it has answered no call, until when
 *   calls are refused, which process probes and until when; or when it answered. It expires some time after its last
 *   change.
 * - changes: a sorted set of these databases by the time of their last change, of limited size.
 *
 * Values of other programs under these names are removed or ignored. A script that failed because of them would look
 * like a Redis that is away.
 */
import { OPEN_MS_MAX, OPEN_MS_MIN } from '../limits/database/peers.ts';
import { defineScript, READ_NOW } from './script.ts';

/** Time after the last change at which a record expires. Longer than a breaker stays open. */
export const RECORD_TTL_MS = 300_000;
export const DATABASES_MAX = 1000;
/** No stored time is further in the future, unless the clock was set back. */
const AHEAD_MS_MAX = OPEN_MS_MAX + 1000;
const CLIENT_LENGTH_MAX = 64;
const FIELDS = [
  'since',
  'until',
  'open_ms',
  'witness',
  'prober',
  'probe_until',
  'others_until',
  'answered_at',
] as const;
const READ_FIELDS = `'HMGET', record, '${FIELDS.join("', '")}'`;

const CHECK_KIND = `
local function check(key, kind)
  local found = redis.call('TYPE', key).ok
  if found ~= kind and found ~= 'none' then redis.call('DEL', key) end
end
`;

/**
 * KEYS: the record, the changes. ARGV: the database, the process, then arguments of the script. Returns whether a
 * change was made, the time, and the record after it.
 */
const ACT = `${READ_NOW}${CHECK_KIND}
local record, changes = KEYS[1], KEYS[2]
local database, process = ARGV[1], ARGV[2]
check(record, 'hash')
check(changes, 'zset')
local function text(field) return redis.call('HGET', record, field) or '' end
local function number(field)
  local value = tonumber(text(field))
  if value and value >= 0 and value <= now + ${AHEAD_MS_MAX} then return value end
end
local function print(ms) return string.format('%.3f', ms) end

local function keep(...)
  redis.call('HSET', record, ...)
  redis.call('PEXPIRE', record, ${RECORD_TTL_MS})
  redis.call('ZREMRANGEBYSCORE', changes, '-inf', now - ${RECORD_TTL_MS})
  -- A change can be this late only if the clock was set back.
  redis.call('ZREMRANGEBYSCORE', changes, now + 1000, '+inf')
  redis.call('ZADD', changes, now, database)
  redis.call('PEXPIRE', changes, ${RECORD_TTL_MS})
  if redis.call('ZCARD', changes) > ${DATABASES_MAX} then
    local prefix = string.sub(record, 1, #record - #database)
    redis.call('DEL', prefix .. redis.call('ZPOPMIN', changes)[1])
  end
end

local function answer(isDone)
  return { isDone, print(now), redis.call(${READ_FIELDS}) }
end

local answered, untilMs = number('answered_at'), number('until')
if answered then untilMs = nil end
`;

/**
 * ARGV: age of the failures, time left, open time, witness (empty: several), whether a probe of the process has failed.
 * Two openings with different witnesses are merged into one for all clients.
 */
export const OPEN = defineScript(`${ACT}
local since, left, openMs, witness, isProbe = now - ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[7] == '1'
if answered and answered > since then return answer(0) end
if isProbe and untilMs and text('process') ~= process then return answer(0) end
if untilMs then
  if text('witness') ~= witness then witness = '' end
  since = math.max(since, number('since') or 0)
  left = math.max(left, untilMs - now)
  openMs = math.min(math.max(openMs, number('open_ms') or 0), ${OPEN_MS_MAX})
end
if isProbe or not untilMs then redis.call('DEL', record) end
keep('since', print(since), 'until', print(now + left), 'open_ms', openMs, 'witness', witness)
return answer(1)
`);

export const CLOSE = defineScript(`${ACT}
if answered then return answer(0) end
redis.call('DEL', record)
keep('answered_at', print(now))
return answer(1)
`);

/**
 * ARGV: age of the failures, open time, witness, client that probes, duration of its probe, duration for which only
 * other clients may probe.
 */
export const PROBE = defineScript(`${ACT}
local since, openMs, witness, client = now - ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if answered and answered > since then return answer(0) end
if untilMs then
  local isTaken = now < (number('probe_until') or 0)
  local isLeftToOthers = text('prober') == client and now < (number('others_until') or 0)
  if now < untilMs or isTaken or isLeftToOthers then return answer(0) end
else
  redis.call('DEL', record)
  keep('since', print(since), 'until', print(now), 'open_ms', openMs, 'witness', witness)
end
keep('process', process, 'prober', client, 'probe_until', print(now + ARGV[7]), 'others_until', print(now + ARGV[8]))
return answer(1)
`);

/** ARGV: duration for which only other clients may probe. */
export const RETURN_PROBE = defineScript(`${ACT}
if not untilMs or text('process') ~= process then return answer(0) end
keep('process', '', 'probe_until', 0, 'others_until', print(now + ARGV[3]))
return answer(1)
`);

/** KEYS: the changes. ARGV: start time, prefix of the names of records. Returns the time, and the changed records. */
export const READ_CHANGES = defineScript(`${READ_NOW}${CHECK_KIND}
check(KEYS[1], 'zset')
local known = { string.format('%.3f', now) }
local since = tonumber(ARGV[1])
-- If the clock was set back, all records are read again.
if since > now then since = 0 end
for _, database in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], since, '+inf', 'LIMIT', 0, ${DATABASES_MAX})) do
  local record = ARGV[2] .. database
  if redis.call('TYPE', record).ok == 'hash' then
    known[#known + 1] = { database, redis.call(${READ_FIELDS}) }
  end
end
return known
`);

/** Times are milliseconds by the clock of Redis. Clients are empty for several clients or none. */
export interface OpenRecord {
  since: number;
  until: number;
  openMs: number;
  witness: string;
  prober: string;
  probeUntil: number;
  othersUntil: number;
}

export interface AnsweredRecord {
  answeredAt: number;
}

/** Null for values of other programs. `now`: by the clock of Redis. */
export function readRecord(reply: unknown, now: number): OpenRecord | AnsweredRecord | null {
  if (!Array.isArray(reply) || !Number.isFinite(now)) return null;
  const texts = reply.map((value) => (value === null ? '' : String(value)));
  const [since, until, openMs, witness = '', prober = '', probeUntil, othersUntil, answeredAt] = texts;
  const isTime = (ms: number) => ms >= 0 && ms <= now + AHEAD_MS_MAX;
  if (answeredAt) return isTime(Number(answeredAt)) ? { answeredAt: Number(answeredAt) } : null;
  const record = {
    since: Number(since || Number.NaN),
    until: Number(until || Number.NaN),
    openMs: Number(openMs),
    witness,
    prober,
    probeUntil: Number(probeUntil),
    othersUntil: Number(othersUntil),
  };
  const areTimes = [record.since, record.until, record.probeUntil, record.othersUntil].every(isTime);
  const isBounded = record.openMs >= OPEN_MS_MIN && record.openMs <= OPEN_MS_MAX;
  const areClients = [witness, prober].every((client) => client.length <= CLIENT_LENGTH_MAX);
  return areTimes && isBounded && areClients ? record : null;
}
