/**
 * Atomic scripts for kept answers, with the clock of Redis. An answer is valid while its two marks are current: the
 * mark of its database and the mark of its model in that database. A write removes a mark, and the next read creates a
 * new unique one. So an answer from before a write is neither kept nor returned after it. If Redis loses a mark,
 * answers with that mark are not valid any more.
 *
 * The total size is bounded: `ends` orders answers by their expiry, and `sizes` has the size of each, with the total
 * under ''.
 */
import { READ_NOW } from './client.ts';

/** Time after which marks and sizes expire, which is longer than answers are kept. */
const RECORD_MS = 2 * 3_600_000;
/**
 * Maximum number of marks, because callers can name any model. When it is reached, all marks and thus all answers are
 * dropped.
 */
const MARKS_MAX = 10_000;

/**
 * KEYS: the answer, the marks. ARGV: maximum age, names of the two marks, and a new unique mark. Returns the marks,
 * time and age of a kept answer, or the marks and time for a read that is sent now.
 */
export const FIND = `${READ_NOW}
now = math.floor(now)
local marks = redis.call('HMGET', KEYS[2], ARGV[2], ARGV[3])
if not (marks[1] and marks[2]) then
  if redis.call('HLEN', KEYS[2]) >= ${MARKS_MAX} then redis.call('DEL', KEYS[2]) end
  redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[4])
  redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ${RECORD_MS})
  marks = redis.call('HMGET', KEYS[2], ARGV[2], ARGV[3])
end
local mark = marks[1] .. marks[2]
local kept = redis.call('HMGET', KEYS[1], 'mark', 'asked')
local asked = tonumber(kept[2])
if kept[1] == mark and asked <= now and now - asked <= tonumber(ARGV[1]) then
  return { mark, asked, now - asked }
end
return { mark, now }
`;

/**
 * KEYS: the answer, the marks, `ends`, `sizes`. ARGV: marks and time of FIND, names of the two marks, duration for
 * which the answer is kept, its size, maximum total size, the answer.
 */
export const KEEP = `${READ_NOW}
local name, ends, sizes = KEYS[1], KEYS[3], KEYS[4]
local asked, size, bytesMax = tonumber(ARGV[2]), tonumber(ARGV[6]), tonumber(ARGV[7])
local endsAt = asked + tonumber(ARGV[5])
local marks = redis.call('HMGET', KEYS[2], ARGV[3], ARGV[4])
if not (marks[1] and marks[2]) or marks[1] .. marks[2] ~= ARGV[1] then return end
if asked > now or endsAt <= now or size > bytesMax then return end
-- A slow call can end after one that was sent later. A time in the future shows that the clock was set back.
local held = redis.call('HMGET', name, 'mark', 'asked')
local heldAsked = tonumber(held[2])
if held[1] == ARGV[1] and heldAsked > asked and heldAsked <= now then return end

local function drop(dropped)
  redis.call('ZREM', ends, dropped)
  redis.call('DEL', dropped)
  local held = redis.call('HGET', sizes, dropped)
  if not held then return end
  redis.call('HDEL', sizes, dropped)
  redis.call('HINCRBY', sizes, '', -held)
end

-- If Redis has lost one of the two, both are reset. Answers that they no longer contain expire.
if redis.call('HLEN', sizes) ~= redis.call('ZCARD', ends) + 1 then
  redis.call('DEL', ends, sizes)
  redis.call('HSET', sizes, '', 0)
end
drop(name)
for _, over in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, 1000)) do drop(over) end
while tonumber(redis.call('HGET', sizes, '')) + size > bytesMax do
  local first = redis.call('ZRANGE', ends, 0, 0)[1]
  if not first then return end
  drop(first)
end

redis.call('HSET', name, 'mark', ARGV[1], 'asked', asked, 'answer', ARGV[8])
redis.call('PEXPIRE', name, math.ceil(endsAt - now))
redis.call('ZADD', ends, endsAt, name)
redis.call('HSET', sizes, name, size)
redis.call('HINCRBY', sizes, '', size)
redis.call('PEXPIRE', ends, ${RECORD_MS})
redis.call('PEXPIRE', sizes, ${RECORD_MS})
`;
