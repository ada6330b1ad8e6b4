/**
 * Checks all limits of a key in one atomic script: concurrency, calls per month and day, and rate. It uses the
 * algorithm of limits/rate.ts, with the clock of Redis. One run serves all requests of one turn of the event loop, in
 * their order.
 *
 * - rate: the time at which the burst is full again. `owed` calls were admitted while Redis was away, and are charged
 *   with the first request that reaches the rate.
 * - running: a lease for each running call. Leases of a crashed replica expire.
 * - day: the calls of all replicas, and of each one. Calls that only the replica has counted are added: those that were
 *   admitted while Redis was away, or all of them if Redis has lost its data. Expires at midnight (UTC).
 * - month: the calls of all replicas. `known`: the calls that the store of the replica has, and its own. They are more
 *   after calls that were admitted while Redis was away, or if Redis has lost its data. Expires with the month.
 */
import { defineScript, READ_NOW } from './script.ts';

/** A limit is absent if the key has no such limit, or if no request needs it. */
export interface AdmitTurn {
  /** The name of a lease is this id, a colon and the number of the lease. */
  replica: string;
  /** Numbers of the leases that ended before the requests. */
  ended: readonly number[];
  requests: readonly AdmitRequest[];
  rate?: { intervalMs: number; burst: number; owed: number };
  running?: { max: number; leaseMs: number };
  /** `day`: days since 1970 by the replica's clock. If Redis has another day, `counted` is ignored. */
  day?: { max: number; day: number; counted: number };
  /** `endsAt`: end of the month in milliseconds since 1970. */
  month?: { max: number; known: number; endsAt: number };
}

export interface AdmitRequest {
  /** Calls to count, all or none. */
  calls: number;
  /** Numbers of the wanted leases. As many as are free are granted, from the first. */
  leases: readonly number[];
}

export interface AdmitAnswer {
  /** 0 if admitted; else {@link BY_RUNNING}, {@link BY_MONTH}, {@link BY_DAY} or {@link BY_RATE}. */
  refusedBy: number;
  /** Number of granted leases. */
  leases: number;
  /** Includes the calls if they were admitted. */
  fullInMs: number;
  dayCalls: number;
  dayLeftMs: number;
  monthCalls: number;
}

export const BY_RUNNING = 1;
export const BY_DAY = 2;
export const BY_RATE = 3;
export const BY_MONTH = 4;

/** As in the script. */
export function nameLease(replica: string, lease: number): string {
  return `${replica}:${lease}`;
}

/** Length of the part of the reply for each request. */
const REQUEST_NUMBERS = 5;

/**
 * KEYS: rate, leases and day of one key, and its month if the turn has one. ARGV: an {@link AdmitTurn} as JSON. Returns
 * the rest of the day in milliseconds, then for each request: what refused it, granted leases, microseconds until the
 * burst is full, calls of the day and of the month.
 */
export const ADMIT = defineScript(`${READ_NOW}
local rateKey, runningKey, dayKey, monthKey = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local turn = cjson.decode(ARGV[1])
local rate, running, day, month = turn.rate, turn.running, turn.day, turn.month
local dayMs = 86400000
local today = math.floor(now / dayMs)

local function nameLease(number) return turn.replica .. ':' .. string.format('%.0f', number) end

if #turn.ended > 0 then
  local ended = {}
  for index, number in ipairs(turn.ended) do ended[index] = nameLease(number) end
  -- If it fails, the leases expire, and the requests need not fail.
  redis.pcall('ZREM', runningKey, unpack(ended))
end

local free = 0
if running then
  redis.call('ZREMRANGEBYSCORE', runningKey, '-inf', now)
  -- A lease can end this late only if the clock was set back.
  redis.call('ZREMRANGEBYSCORE', runningKey, now + running.leaseMs + 1000, '+inf')
  free = math.max(0, running.max - redis.call('ZCARD', runningKey))
end

local dayCalls, mine, dayAdmitted = 0, 0, 0
if day then
  local stored = redis.call('HMGET', dayKey, 'day', 'calls', turn.replica)
  if tonumber(stored[1] or today) ~= today then
    redis.call('DEL', dayKey)
    stored = {}
  end
  dayCalls, mine = tonumber(stored[2] or 0), tonumber(stored[3] or 0)
  if day.day == today then
    dayCalls = dayCalls + math.max(0, day.counted - mine)
    mine = math.max(day.counted, mine)
  end
end

local monthCalls, monthAdmitted = 0, 0
if month then monthCalls = math.max(tonumber(redis.call('GET', monthKey) or 0), month.known) end

local span, fullIn, isRateRead = 0, 0, false
if rate then
  span = rate.burst * rate.intervalMs
  fullIn = math.max(0, tonumber(redis.call('GET', rateKey) or 0) - now)
end

local granted = {}
local answer = { math.ceil((today + 1) * dayMs - now) }
for _, request in ipairs(turn.requests) do
  local calls = request.calls
  local refusedBy, leases = 0, math.min(#request.leases, free)
  if #request.leases > 0 and leases == 0 then
    refusedBy = ${BY_RUNNING}
  elseif month and calls > 0 and monthCalls + calls > month.max then
    refusedBy = ${BY_MONTH}
  elseif day and calls > 0 and dayCalls + calls > day.max then
    refusedBy = ${BY_DAY}
  elseif rate and calls > 0 then
    if not isRateRead then
      isRateRead = true
      -- It exceeds a burst only after a change of the rate or of the clock.
      fullIn = math.min(fullIn + rate.owed * rate.intervalMs, span)
    end
    local after = fullIn + calls * rate.intervalMs
    if after > span + 0.001 then refusedBy = ${BY_RATE} else fullIn = after end
  end
  if refusedBy == 0 then
    free = free - leases
    for lease = 1, leases do granted[#granted + 1] = nameLease(request.leases[lease]) end
    if day then
      dayCalls = dayCalls + calls
      dayAdmitted = dayAdmitted + calls
    end
    if month then
      monthCalls = monthCalls + calls
      monthAdmitted = monthAdmitted + calls
    end
  else
    leases = 0
  end
  for _, number in ipairs({ refusedBy, leases, math.ceil(fullIn * 1000), dayCalls, monthCalls }) do
    answer[#answer + 1] = number
  end
end

if isRateRead and fullIn > 0 then
  redis.call('SET', rateKey, string.format('%.3f', now + fullIn), 'PX', math.ceil(fullIn))
end
if dayAdmitted > 0 then
  redis.call('HSET', dayKey, 'day', today, 'calls', dayCalls, turn.replica, mine + dayAdmitted)
  redis.call('PEXPIREAT', dayKey, (today + 1) * dayMs)
end
if monthAdmitted > 0 then
  redis.call('SET', monthKey, string.format('%.0f', monthCalls))
  redis.call('PEXPIREAT', monthKey, string.format('%.0f', month.endsAt))
end
for _, name in ipairs(granted) do redis.call('ZADD', runningKey, now + running.leaseMs, name) end
if #granted > 0 then redis.call('PEXPIRE', runningKey, running.leaseMs) end
return answer
`);

/**
 * KEYS: the leases of one key. ARGV: duration in milliseconds, then names. Also restores leases that Redis has lost, so
 * it must not run after a turn that ends one of them.
 */
export const RENEW = defineScript(
  `${READ_NOW}
for lease = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[lease]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
`,
  { staysInOrder: true },
);

/** The answers to the requests of a turn, in their order. */
export function readAdmitAnswers(reply: unknown): AdmitAnswer[] {
  const [dayLeftMs, ...numbers] = reply as [number, ...number[]];
  const answers: AdmitAnswer[] = [];
  for (let at = 0; at < numbers.length; at += REQUEST_NUMBERS) {
    const [refusedBy, leases, fullInMicroseconds, dayCalls, monthCalls] = numbers.slice(
      at,
      at + REQUEST_NUMBERS,
    ) as [number, number, number, number, number];
    answers.push({
      refusedBy,
      leases,
      fullInMs: fullInMicroseconds / 1000,
      dayCalls,
      dayLeftMs,
      monthCalls,
    });
  }
  return answers;
}
