/**
 * Checks all limits of a key in one atomic script: concurrency, calls in periods, and rate. It uses the
 * algorithm of limits/rate.ts, with the clock of Redis.
 *
 * - rate: the time at which the burst is full again. `owed` calls were admitted while Redis was away, and are charged
 *   with the first request that reaches the rate.
 * - running: a lease for each running call. Leases of a crashed replica expire.
 * - periods: the calls of all replicas in each period. `known`: the calls in the store of the replica, and its own. The
 *   larger number counts: `known` is larger after calls that were admitted while Redis was away, or if Redis has lost
 *   its data. Expires with the period.
 */
import { READ_NOW } from './client.ts';

/** A request to the script. A limit is left out if the key has no such limit, or if the request does not need it. */
export interface AdmitRequest {
  /** Number of calls to count, all or none. */
  calls: number;
  rate?: { intervalMs: number; burst: number; owed: number };
  /** `leases`: names of the wanted leases. Free ones are granted in this order. */
  running?: { max: number; leaseMs: number; leases: readonly string[] };
  /** In the order in which they are checked. `endsAt`: end of the period in milliseconds since 1970. */
  periods: { max: number; known: number; endsAt: number }[];
}

export interface AdmitAnswer {
  /** 0 if admitted; else {@link BY_RUNNING}, {@link BY_RATE}, or {@link BY_PERIODS} plus the index of the period. */
  refusedBy: number;
  /** Number of granted leases. */
  leases: number;
  /** Milliseconds until the burst is full, including the new calls if they were admitted. */
  fullInMs: number;
  /** The calls of each period that was checked, including the new calls if they were admitted. */
  periodCalls: readonly number[];
}

export const BY_RUNNING = 1;
export const BY_RATE = 2;
/** The greatest: further numbers stand for further periods. */
export const BY_PERIODS = 3;

/**
 * KEYS: rate and leases of one key, then each of its periods. ARGV: an {@link AdmitRequest} as JSON. Returns the limit
 * that refused the request, the number of granted leases, microseconds until the burst is full, and the calls of the
 * periods.
 */
export const ADMIT = `${READ_NOW}
local rateKey, runningKey = KEYS[1], KEYS[2]
local request = cjson.decode(ARGV[1])
local calls, rate, running, periods = request.calls, request.rate, request.running, request.periods
local leases, fullIn, periodCalls = 0, 0, {}

local function answer(refusedBy)
  if refusedBy > 0 then leases = 0 end
  return { refusedBy, leases, math.ceil(fullIn * 1000), periodCalls }
end

if running then
  redis.call('ZREMRANGEBYSCORE', runningKey, '-inf', now)
  -- A lease can end this late only if the clock was set back.
  redis.call('ZREMRANGEBYSCORE', runningKey, now + running.leaseMs + 1000, '+inf')
  leases = math.min(#running.leases, running.max - redis.call('ZCARD', runningKey))
  if leases <= 0 then return answer(${BY_RUNNING}) end
end

for index, period in ipairs(periods) do
  periodCalls[index] = math.max(tonumber(redis.call('GET', KEYS[2 + index]) or 0), period.known)
  if periodCalls[index] + calls > period.max then return answer(${BY_PERIODS} + index - 1) end
  periodCalls[index] = periodCalls[index] + calls
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

for index, period in ipairs(periods) do
  redis.call('SET', KEYS[2 + index], string.format('%.0f', periodCalls[index]))
  redis.call('PEXPIREAT', KEYS[2 + index], string.format('%.0f', period.endsAt))
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
  const [refusedBy, leases, fullInMicroseconds, periodCalls] = reply as [number, number, number, number[]];
  return { refusedBy, leases, fullInMs: fullInMicroseconds / 1000, periodCalls };
}
