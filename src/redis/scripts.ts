/**
 * What runs inside Redis. Each script is one atomic step, by the clock of Redis alone.
 *
 * A token has up to four keys: `known`, a hash with what the service said of the token; `slots`, a sorted set with a lease
 * for each request in flight, scored by when it expires; `queue` and `seen`, sorted sets with each process that waits for
 * a slot, scored by when it began to ask and by when it loses its place. All of them expire by themselves.
 */

/** The longest pause that processes share, in milliseconds. A process obeys a longer one of its own by itself. */
export const LONGEST_SHARED_PAUSE_MS = 600_000;

const OPENING = `
-- ARGV 1 and 2: when this was sent by this clock, as far as is known, or 0; and how late it may be. 3: the process.
local known, slots, queue, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local sentAt, lateAfter, process = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local late = sentAt > 0 and now - sentAt > lateAfter
local WINDOW, LONGEST_PAUSE = 60000, ${LONGEST_SHARED_PAUSE_MS}
-- Two processes measure the same pause a little differently: a shorter difference is none.
local TOLERANCE = 1000
local function read(field) return tonumber(redis.call('HGET', known, field) or 0) or 0 end
local function write(...) redis.call('HSET', known, ...) end
-- Only ever lengthens the life of a key: processes may have leases of different lengths.
local function expire(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end
-- Once the pause and the window are over, nothing in it means anything.
local function keep()
  local cleared = read('cleared')
  local untilCleared = cleared > 0 and cleared + LONGEST_PAUSE or 0
  redis.call('PEXPIRE', known, math.max(0, read('until') - now, untilCleared - now) + WINDOW)
end
local function pause(asked, lasts)
  write('mustProbe', 1,
    'askedUntil', math.max(read('askedUntil'), now + math.min(asked, LONGEST_PAUSE)),
    'until', math.max(read('until'), now + math.min(lasts, LONGEST_PAUSE)))
  keep()
end
-- Whatever wrote it, no pause lasts longer than that.
if read('until') > now + LONGEST_PAUSE then
  write('until', now + LONGEST_PAUSE, 'askedUntil', now + LONGEST_PAUSE)
  keep()
end
-- A process that died holds nothing, and waits for nothing.
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', seen, '-inf', now)) do redis.call('ZREM', queue, dead) end
redis.call('ZREMRANGEBYSCORE', seen, '-inf', now)
local function lease(slot, ms)
  redis.call('ZADD', slots, now + ms, slot)
  expire(slots, ms)
end
local function leaveQueue()
  redis.call('ZREM', queue, process)
  redis.call('ZREM', seen, process)
end
-- Redis may have forgotten what a process has not. ARGV 4: when a pause was last cleared, as far as the process knows, or
-- ''. 5 and 6: what is left of the pause, as asked and with jitter. 7: 429s in a row, if nothing has got through since, or ''.
local function remind()
  if late or (ARGV[4] ~= '' and tonumber(ARGV[4]) < read('cleared')) then return end
  if ARGV[7] ~= '' and redis.call('EXISTS', known) == 0 then
    write('mustProbe', 1, 'refusals', ARGV[7])
    keep()
  end
  local lasts = tonumber(ARGV[6])
  if lasts > TOLERANCE and read('until') < now + lasts - TOLERANCE then pause(tonumber(ARGV[5]), lasts) end
end
-- How many more may go, or -1 if nothing limits them. At 0 left, one at a time.
local function room()
  if read('mustProbe') == 1 then
    -- The probe's lease is that of its slot, so the role passes on when either is given back, or expires.
    local probe = redis.call('HGET', known, 'probe')
    return probe and redis.call('ZSCORE', slots, probe) and 0 or 1
  end
  if redis.call('HEXISTS', known, 'remaining') == 0 or now - read('observedAt') > WINDOW then return -1 end
  return math.max(0, math.max(1, read('remaining')) - redis.call('ZCARD', slots))
end
local function reply(outcome, ahead)
  local hasRemaining = redis.call('HEXISTS', known, 'remaining') == 1
  local hasLimit = redis.call('HEXISTS', known, 'limit') == 1
  local free = room()
  return {
    outcome, now, math.max(0, read('until') - now), math.max(0, read('askedUntil') - now),
    read('pauses'), read('refusals'), read('mustProbe'), read('cleared'),
    hasRemaining and read('remaining') or -1, now - read('since'), now - read('observedAt'),
    hasLimit and read('limit') or -1,
    free < 0 and -1 or math.max(0, free - redis.call('ZCARD', queue)), ahead or 0,
  }
end
`;

/** Asks for a slot. ARGV 8 and 9: the slot, and its lease in ms. 10: how long a waiting process keeps its place, in ms. */
export const TAKE = `${OPENING}
local slot = ARGV[8]
-- The process has stopped waiting for this.
if late then return reply('late') end
remind()
if read('until') > now then
  redis.call('ZREM', slots, slot)
  return reply('paused')
end
local mustProbe = read('mustProbe') == 1
local isHeld = redis.call('ZSCORE', slots, slot) and (not mustProbe or redis.call('HGET', known, 'probe') == slot)
if not isHeld then
  -- In order of asking: a process that does not wait yet stands behind all that do.
  local ahead = redis.call('ZRANK', queue, process) or redis.call('ZCARD', queue)
  local free = room()
  if free >= 0 and ahead >= free then
    redis.call('ZREM', slots, slot)
    redis.call('ZADD', queue, 'NX', time[1] * 1000000 + time[2], process)
    redis.call('ZADD', seen, now + ARGV[10], process)
    expire(queue, ARGV[10] + 0)
    expire(seen, ARGV[10] + 0)
    return reply('full', ahead)
  end
end
leaveQueue()
if mustProbe then write('probe', slot) end
lease(slot, ARGV[9] + 0)
return reply('granted')
`;

/**
 * Releases a slot, with the response of the service. ARGV 8: the slot. 9: 'refused' (a 429), 'passed' (any other
 * response), or 'left' (none). 10 and 11: when the slot was granted, and how many pauses had begun then. 12 and 13: the
 * pause that a 429 begins, as asked and with jitter. 14 and 15: what is left, and the limit, or ''.
 */
export const REPORT = `${OPENING}
local slot, outcome, startedAt, pausesBefore = ARGV[8], ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11])
redis.call('ZREM', slots, slot)
if redis.call('HGET', known, 'probe') == slot then redis.call('HDEL', known, 'probe') end
-- A late one is about a window that may be over.
if late or outcome == 'left' then return reply('done') end
if ARGV[14] ~= '' then
  local remaining = tonumber(ARGV[14])
  local isOld = redis.call('HEXISTS', known, 'remaining') == 0 or now - read('observedAt') > WINDOW
  -- Responses overtake one another: a higher number counts only from a request sent after the lower one was read.
  if isOld or startedAt >= read('since') or remaining < read('remaining') then
    write('remaining', remaining, 'since', now)
  end
  write('observedAt', now)
end
if ARGV[15] ~= '' then write('limit', ARGV[15]) end
local isCurrent = pausesBefore >= read('pauses')
if outcome == 'refused' then
  -- The 429 of a request that was sent before the pause began prolongs that pause.
  if isCurrent then write('pauses', pausesBefore + 1, 'refusals', read('refusals') + 1) end
  pause(tonumber(ARGV[12]), tonumber(ARGV[13]))
elseif isCurrent then
  write('refusals', 0)
  -- A pause that was prolonged meanwhile ends with a probe of its own.
  if read('until') <= now then write('mustProbe', 0) end
end
keep()
return reply('done')
`;

/**
 * Tells Redis all that a process holds, and learns what it should know. ARGV 8: '1' if it waits for a slot. 9: the number
 * of its latest slot. From 10 on, each slot that it holds, and its lease in ms, or 0 to leave it as it is. Other leases of
 * the process up to the latest are dropped.
 */
export const SYNC = `${OPENING}
if late then return reply('late') end
remind()
if ARGV[8] ~= '1' then leaveQueue() end
local holds = {}
for at = 10, #ARGV, 2 do
  holds[ARGV[at]] = true
  local ms = tonumber(ARGV[at + 1])
  if ms > 0 then lease(ARGV[at], ms) end
end
local prefix = process .. ':'
for _, slot in ipairs(redis.call('ZRANGE', slots, 0, -1)) do
  local isOwn = string.sub(slot, 1, #prefix) == prefix
  if isOwn and not holds[slot] and tonumber(string.sub(slot, #prefix + 1)) <= tonumber(ARGV[9]) then
    redis.call('ZREM', slots, slot)
  end
end
return reply('done')
`;

/** Ends the shared pause, so that one request goes ahead. Processes that know of the pause learn that it was cleared. */
export const CLEAR = `${OPENING}
write('until', 0, 'askedUntil', 0, 'cleared', now)
keep()
return reply('done')
`;
