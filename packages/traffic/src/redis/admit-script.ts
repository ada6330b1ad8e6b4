/**
 * Checks all limits of a key in one atomic script: concurrency, calls per month and day, and rate. It uses the
 * algorithm of limits/rate.ts, with the clock of Redis.
 *
 * - rate: the time at which the burst is full again. `owed` calls were admitted while Redis was away, and are charged
 *   with the first request that reaches the rate.
 * - running: a lease for each running call. Leases of a crashed replica expire.
 * - day: the calls of all replicas, and of each replica. Calls that only the replica has counted are added: the calls
 *   that it admitted while Redis was away, or all its calls if Redis has lost its data. Expires at midnight (UTC).
 * - month: the calls of all replicas. `known`: the calls in the store of the replica, and its own. The larger number
 *   counts: `known` is larger after calls that were admitted while Redis was away, or if Redis has lost its data.
 *   Expires with the month.
 */
import { READ_NOW } from './client.ts';

/** A request to the script. A limit is left out if the key has no such limit, or if the request does not need it. */
export interface AdmitRequest {
  replica: string;
  /** Number of calls to count, all or none. */
  calls: number;
  rate?: { intervalMs: number; burst: number; owed: number };
  /** `leases`: names of the wanted leases. Free ones are granted in this order. */
  running?: { max: number; leaseMs: number; leases: readonly string[] };
  /** `day`: days since 1970 by the clock of the replica. If Redis has another day, `counted` is ignored. */
  day?: { max: number; day: number; counted: number };
  /** `endsAt`: end of the month in milliseconds since 1970. */
  month?: { max: number; known: number; endsAt: number };
}

export interface AdmitAnswer {
  /** 0 if admitted; else {@link BY_RUNNING}, {@link BY_MONTH}, {@link BY_DAY} or {@link BY_RATE}. */
  refusedBy: number;
  /** Number of granted leases. */
  leases: number;
  /** Milliseconds until the burst is full, including the new calls if they were admitted. */
  fullInMs: number;
  dayCalls: number;
  dayLeftMs: number;
  monthCalls: number;
}

export const BY_RUNNING = 1;
export const BY_DAY = 2;
export const BY_RATE = 3;
export const BY_MONTH = 4;

/**
 * KEYS: rate, leases and day of one key, and its month if the request has one. ARGV: an {@link AdmitRequest} as JSON.
 * Returns the limit that refused the request, the number of granted leases, microseconds until the burst is full, calls
 * of the day, milliseconds until the end of the day, and calls of the month.
 */
export const ADMIT = `${READ_NOW}
local rateKey, runningKey, dayKey, monthKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local request = cjson.decode(ARGV[1])
local calls, rate, running, day, month = request.calls, request.rate, request.running, request.day, request.month
local dayMs = 86400000
local today = math.floor(now / dayMs)
local leases, fullIn, dayCalls, monthCalls = 0, 0, 0, 0

local function answer(refusedBy)
  if refusedBy > 0 then leases = 0 end
  return { refusedBy, leases, math.ceil(fullIn * 1000), dayCalls, math.ceil((today + 1) * dayMs - now), monthCalls }
end

if running then
  redis.call('ZREMRANGEBYSCORE', runningKey, '-inf', now)
  -- A lease can end this late only if the clock was set back.
  redis.call('ZREMRANGEBYSCORE', runningKey, now + running.leaseMs + 1000, '+inf')
  leases = math.min(#running.leases, running.max - redis.call('ZCARD', runningKey))
  if leases <= 0 then return answer(${BY_RUNNING}) end
end

if month then
  monthCalls = math.max(tonumber(redis.call('GET', monthKey) or 0), month.known)
  if monthCalls + calls > month.max then return answer(${BY_MONTH}) end
  monthCalls = monthCalls + calls
end

local mine = 0
if day then
  local stored = redis.call('HMGET', dayKey, 'day', 'calls', request.replica)
  if tonumber(stored[1] or today) ~= today then
    redis.call('DEL', dayKey)
    stored = {}
  end
  dayCalls, mine = tonumber(stored[2] or 0), tonumber(stored[3] or 0)
  if day.day == today then
    dayCalls = dayCalls + math.max(0, day.counted - mine)
    mine = math.max(day.counted, mine)
  end
  if dayCalls + calls > day.max then return answer(${BY_DAY}) end
  dayCalls = dayCalls + calls
end

if rate then
  local span = rate.burst * rate.intervalMs
  fullIn = math.max(0, tonumber(redis.call('GET', rateKey) or 0) - now)
  -- It exceeds a burst only after a change of the rate or of the clock.
  fullIn = math.min(fullIn + rate.owed * rate.intervalMs, span)
  local after = fullIn + calls * rate.intervalMs
  local isOver = after > span + 0.001
  if not isOver then fullIn = after end
  if fullIn > 0 then
    redis.call('SET', rateKey, string.format('%.3f', now + fullIn), 'PX', math.ceil(fullIn))
  end
  if isOver then return answer(${BY_RATE}) end
end

if day then
  redis.call('HSET', dayKey, 'day', today, 'calls', dayCalls, request.replica, mine + calls)
  redis.call('PEXPIREAT', dayKey, (today + 1) * dayMs)
end
if month then
  redis.call('SET', monthKey, string.format('%.0f', monthCalls))
  redis.call('PEXPIREAT', monthKey, string.format('%.0f', month.endsAt))
end
if running then
  for lease = 1, leases do redis.call('ZADD', runningKey, now + running.leaseMs, running.leases[lease]) end
  redis.call('PEXPIRE', runningKey, running.leaseMs)
end
return answer(0)
`;

/**
 * KEYS: the leases of one key. ARGV: duration in milliseconds, then names of leases. Also restores leases that Redis
 * has lost, so it must not run for a lease that has ended.
 */
export const RENEW = `${READ_NOW}
for lease = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[lease]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`;

export function readAdmitAnswer(reply: unknown): AdmitAnswer {
  const [refusedBy, leases, fullInMicroseconds, dayCalls, dayLeftMs, monthCalls] = reply as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { refusedBy, leases, fullInMs: fullInMicroseconds / 1000, dayCalls, dayLeftMs, monthCalls };
}
