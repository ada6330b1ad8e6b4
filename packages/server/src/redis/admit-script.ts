/**
 * The limits of a key as one step of Redis: calls at once, in a day, and in a time, all or none. It decides as
 * limits/rate.ts does, by the clock of Redis.
 *
 * - rate: the time at which the burst is whole again. `owed` calls were let in while Redis was away: they are charged now.
 * - running: a lease for each call that runs, which ends with its replica.
 * - day: the calls of all, and of each replica. What a replica has counted itself and Redis does not know is added: calls
 *   that were let in while Redis was away, and all of them where Redis has lost its data. Gone at midnight (UTC).
 */
import { defineScript, READ_NOW } from './script.ts';

/** Left out: the key has no such limit, or it is not asked. */
export interface AdmitQuestion {
  calls: number;
  rate?: { intervalMs: number; burst: number; owed: number };
  running?: { max: number; leaseMs: number; names: string[] };
  /** `day`: in days since 1970, by the replica's clock; a count of another day than Redis has is not taken. */
  day?: { max: number; replica: string; day: number; counted: number };
}

export interface AdmitAnswer {
  /** 0: let in; else {@link BY_RUNNING}, {@link BY_DAY} or {@link BY_RATE}. */
  refusedBy: number;
  /** How many of the names are leases now. */
  leases: number;
  /** With the calls where they were let in, else without. */
  wholeInMs: number;
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
local leases, wholeIn, dayCalls = 0, 0, 0
local dayMs = 86400000
local today = math.floor(now / dayMs)

local function answer(refusedBy)
  return { refusedBy, leases, math.ceil(wholeIn * 1000), dayCalls, math.ceil((today + 1) * dayMs - now) }
end

if running then
  redis.call('ZREMRANGEBYSCORE', runningKey, '-inf', now)
  -- Only where the clock has jumped back can a lease end so late.
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
  wholeIn = math.max(0, tonumber(redis.call('GET', rateKey) or 0) - now) + rate.owed * rate.intervalMs
  -- More than a burst is missing only after a change of the rate, or of the clock.
  wholeIn = math.min(wholeIn, span)
  local after = wholeIn + asked.calls * rate.intervalMs
  local isOver = after > span + 0.001
  if not isOver then wholeIn = after end
  if wholeIn > 0 then
    redis.call('SET', rateKey, string.format('%.3f', now + wholeIn), 'PX', math.ceil(wholeIn))
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

/** KEYS: the leases of one key. ARGV: for how long, then their names. Renews what runs, also where Redis has lost it. */
export const RENEW = defineScript(`${READ_NOW}
for lease = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[lease]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`);

/** KEYS: the leases of one key. ARGV: the names of those that have ended. */
export const RELEASE = defineScript(`redis.call('ZREM', KEYS[1], unpack(ARGV))`);

export function readAdmitAnswer(reply: unknown): AdmitAnswer {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  const [refusedBy = 0, leases = 0, wholeInMicroseconds = 0, dayCalls = 0, dayLeftMs = 0] = numbers;
  return { refusedBy, leases, wholeInMs: wholeInMicroseconds / 1000, dayCalls, dayLeftMs };
}
