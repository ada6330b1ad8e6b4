/**
 * Checks all limits of a key in one atomic script: concurrency, calls per day, and rate. It uses the algorithm of
 * limits/rate.ts, with the clock of Redis.
 *
 * - rate: the time at which the burst is full again. `owed` calls were admitted while Redis was away, and are charged
 *   now.
 * - running: a lease for each running call. Leases of a crashed replica expire.
 * - day: the calls of all replicas, and of each one. Calls that only the replica has counted are added: those that were
 *   admitted while Redis was away, or all of them if Redis has lost its data. Expires at midnight (UTC).
 */
import { defineScript, READ_NOW } from './script.ts';

/** A member is absent if the key has no such limit, or if the limit is not checked. */
export interface AdmitRequest {
  calls: number;
  rate?: { intervalMs: number; burst: number; owed: number };
  running?: { max: number; leaseMs: number; names: string[] };
  /** `day`: days since 1970 by the replica's clock. If Redis has another day, `counted` is ignored. */
  day?: { max: number; replica: string; day: number; counted: number };
}

export interface AdmitAnswer {
  /** 0 if admitted; else {@link BY_RUNNING}, {@link BY_DAY} or {@link BY_RATE}. */
  refusedBy: number;
  /** Number of names that are leases now, from the first. */
  leases: number;
  /** Includes the calls if they were admitted. */
  fullInMs: number;
  dayCalls: number;
  dayLeftMs: number;
}

export const BY_RUNNING = 1;
export const BY_DAY = 2;
export const BY_RATE = 3;

export const ADMIT = defineScript(`${READ_NOW}
local rateKey, runningKey, dayKey = KEYS[1], KEYS[2], KEYS[3]
local asked = cjson.decode(ARGV[1])
local rate, running, day = asked.rate, asked.running, asked.day
local leases, fullIn, dayCalls = 0, 0, 0
local dayMs = 86400000
local today = math.floor(now / dayMs)

local function answer(refusedBy)
  return { refusedBy, leases, math.ceil(fullIn * 1000), dayCalls, math.ceil((today + 1) * dayMs - now) }
end

if running then
  redis.call('ZREMRANGEBYSCORE', runningKey, '-inf', now)
  -- A lease can end this late only if the clock was set back.
  redis.call('ZREMRANGEBYSCORE', runningKey, now + running.leaseMs + 1000, '+inf')
  leases = math.min(#running.names, math.max(0, running.max - redis.call('ZCARD', runningKey)))
  if leases == 0 then return answer(${BY_RUNNING}) end
end

local mine = 0
if day then
  if tonumber(redis.call('HGET', dayKey, 'day') or today) ~= today then redis.call('DEL', dayKey) end
  local stored = redis.call('HMGET', dayKey, 'calls', day.replica)
  dayCalls, mine = tonumber(stored[1] or 0), tonumber(stored[2] or 0)
  if day.day == today then
    dayCalls = dayCalls + math.max(0, day.counted - mine)
    mine = math.max(day.counted, mine)
  end
  if dayCalls + asked.calls > day.max then
    leases = 0
    return answer(${BY_DAY})
  end
end

if rate then
  local span = rate.burst * rate.intervalMs
  fullIn = math.max(0, tonumber(redis.call('GET', rateKey) or 0) - now) + rate.owed * rate.intervalMs
  -- It exceeds a burst only after a change of the rate or of the clock.
  fullIn = math.min(fullIn, span)
  local after = fullIn + asked.calls * rate.intervalMs
  local isOver = after > span + 0.001
  if not isOver then fullIn = after end
  if fullIn > 0 then
    redis.call('SET', rateKey, string.format('%.3f', now + fullIn), 'PX', math.ceil(fullIn))
  end
  if isOver then
    leases = 0
    return answer(${BY_RATE})
  end
end

if day then
  dayCalls = dayCalls + asked.calls
  redis.call('HSET', dayKey, 'day', today, 'calls', dayCalls, day.replica, mine + asked.calls)
  redis.call('PEXPIREAT', dayKey, (today + 1) * dayMs)
end
for lease = 1, leases do
  redis.call('ZADD', runningKey, now + running.leaseMs, running.names[lease])
  redis.call('PEXPIRE', runningKey, running.leaseMs)
end
return answer(0)
`);

/**
 * KEYS: the leases of one key. ARGV: duration in milliseconds, then names. Also restores leases that Redis has lost.
 */
export const RENEW = defineScript(`${READ_NOW}
for lease = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[lease]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`);

/** KEYS: the leases of one key. ARGV: names of the leases to end. */
export const RELEASE = defineScript(`redis.call('ZREM', KEYS[1], unpack(ARGV))`);

export function readAdmitAnswer(reply: unknown): AdmitAnswer {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  const [refusedBy = 0, leases = 0, fullInMicroseconds = 0, dayCalls = 0, dayLeftMs = 0] = numbers;
  return { refusedBy, leases, fullInMs: fullInMicroseconds / 1000, dayCalls, dayLeftMs };
}
