import { CALM_MS, LESS } from "../core/rate-limit/pace.ts";
import { STALLED_AFTER_MS } from "../core/rate-limit/token-gate.ts";
import { REPLY } from "./slot-reply.ts";

/**
 * The programs that run inside Redis. Each script is one atomic step, by the clock of Redis alone.
 *
 * A token has up to four keys at each service: `known`, a hash with what the service said of the token; `slots`, a sorted set with a lease
 * for each request in flight, scored by when it expires; `queue` and `seen`, sorted sets with each process that waits for
 * a slot, scored by when it joined and by when it loses its place. All of them expire by themselves.
 *
 * The clock may go back: Redis is replaced by a replica whose clock is behind, or is set right. What then lies further in
 * the future than anything can is read as what is over.
 */

/** The longest pause that processes share, in milliseconds. A process obeys a longer one of its own by itself. */
export const LONGEST_SHARED_PAUSE_MS = 600_000;
/** Milliseconds for which a waiting process keeps its place in the queue without asking. */
const PLACE_MS = 1_000;

/**
 * The beginning of every script. ARGV 1 and 2: when it was sent by the clock of Redis, as far as is known, or 0; and how late
 * it may be. 3: the process. 4 to 6 remind Redis: what is left of the pause, as asked and with jitter; 429s in a row, if
 * nothing has got through since, or ''.
 */
const OPENING = `
local known, slots, queue, seen = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local sentAt, lateAfter, process = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local WINDOW, LONGEST_PAUSE, LONGEST_LEASE, PLACE = 60000, ${LONGEST_SHARED_PAUSE_MS}, ${STALLED_AFTER_MS}, ${PLACE_MS}
-- Two processes measure the same pause a little differently: a shorter difference is none.
local TOLERANCE = 1000
local function read(field) return tonumber(redis.call('HGET', known, field) or 0) or 0 end
local function write(...)
  redis.call('HSET', known, ...)
  redis.call('PEXPIRE', known, LONGEST_PAUSE + WINDOW)
end
-- When the pause ends, 'until' or 'askedUntil'. Whatever wrote it, it lasts no longer than that; and if it was noted before
-- the clock went back, nothing tells when it ends: a process that knows reminds of it.
local function ending(field)
  local noted = read('pausedAt')
  return noted > now and 0 or math.min(read(field), noted + LONGEST_PAUSE)
end
local function pause(asked, lasts)
  write('refusals', math.max(1, read('refusals')), 'pausedAt', now,
    'askedUntil', math.max(ending('askedUntil'), now + asked), 'until', math.max(ending('until'), now + lasts))
end
-- A process that died holds nothing, and waits for nothing.
local function dropEnded(key, longest)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZREMRANGEBYSCORE', key, '(' .. (now + longest), '+inf')
end
dropEnded(slots, LONGEST_LEASE)
dropEnded(seen, PLACE)
local function lease(slot, ms)
  redis.call('ZADD', slots, now + ms, slot)
  redis.call('PEXPIRE', slots, LONGEST_LEASE)
end
-- At the end, unless the process is in it.
local function joinQueue()
  redis.call('ZADD', queue, 'NX', time[1] * 1000000 + time[2], process)
  redis.call('ZADD', seen, now + PLACE, process)
  redis.call('PEXPIRE', queue, PLACE)
  redis.call('PEXPIRE', seen, PLACE)
end
local function leaveQueue()
  redis.call('ZREM', queue, process)
  redis.call('ZREM', seen, process)
end
-- How many processes are before this one.
local function countAhead()
  local count = 0
  for _, other in ipairs(redis.call('ZRANGE', queue, 0, -1)) do
    if not redis.call('ZSCORE', seen, other) then redis.call('ZREM', queue, other)
    elseif other == process then break
    else count = count + 1 end
  end
  return count
end
-- Redis may have forgotten what a process has not.
local function remind()
  if ARGV[6] ~= '' and redis.call('EXISTS', known) == 0 then write('refusals', ARGV[6]) end
  local lasts = tonumber(ARGV[5])
  if lasts > TOLERANCE and ending('until') < now + lasts - TOLERANCE then pause(tonumber(ARGV[4]), lasts) end
end
-- What is left of the window, if that was read in it.
local function readRemaining()
  local age = now - read('observedAt')
  return age >= 0 and age <= WINDOW and tonumber(redis.call('HGET', known, 'remaining')) or nil
end
-- Nil if no pause is near.
local function readPace()
  local calm = now - read('pacedAt')
  if calm < 0 or calm > ${CALM_MS} then return nil end
  return { calm = calm, width = read('width'), distance = read('distance') }
end
-- The time until the next may go at its distance from the latest one.
local function distanceLeft()
  local pace = readPace()
  return pace and math.max(0, math.min(pace.distance, pace.distance - (now - read('sentAt')))) or 0
end
-- How many more may go, or nil if nothing limits them. At 0 left, one at a time.
local function readRoom()
  if read('refusals') > 0 then
    -- The probe's lease is that of its slot, so the role passes on when either is given back, or expires.
    local probe = redis.call('HGET', known, 'probe')
    return probe and redis.call('ZSCORE', slots, probe) and 0 or 1
  end
  local remaining, pace = readRemaining(), readPace()
  if remaining then return math.max(1, remaining) - redis.call('ZCARD', slots) end
  if distanceLeft() > 0 then return 0 end
  return pace and pace.width - redis.call('ZCARD', slots)
end
${REPLY}-- The process has stopped waiting for this, or knows better by now. What it has asked for next will correct it.
if sentAt > 0 and now - sentAt > lateAfter then return reply('late') end
`;

/**
 * Asks for a slot. ARGV 7 and 8: the slot, and its lease in ms. 9: '1' if the process waits for more than this slot: then
 * it stands at the end of the queue as soon as it has been served, however late it is to ask for the next one.
 */
export const TAKE = `${OPENING}
local slot = ARGV[7]
remind()
if ending('until') > now then
  redis.call('ZREM', slots, slot)
  return reply('paused')
end
local mustProbe = read('refusals') > 0
local isHeld = redis.call('ZSCORE', slots, slot) and (not mustProbe or redis.call('HGET', known, 'probe') == slot)
if not isHeld then
  -- Each process before this one keeps room for a request, although it has not asked since there is any. Else those who
  -- happen to ask more often would take its turn. A process that does not wait yet is the last.
  local room, ahead = readRoom(), countAhead()
  if room and room <= ahead then
    redis.call('ZREM', slots, slot)
    joinQueue()
    return reply('full', ahead)
  end
  write('sentAt', now)
  leaveQueue()
  if room and ARGV[9] == '1' then joinQueue() end
end
if mustProbe then write('probe', slot) end
lease(slot, ARGV[8])
return reply('granted')
`;

/**
 * Releases a slot, with the response of the service. ARGV 7: the slot. 8: 'refused' (a 429), 'passed' (any other
 * response), or 'left' (none). 9 and 10: when the slot was granted, and how many pauses had begun then. 11 and 12: the
 * pause that a 429 begins, as asked and with jitter. 13 and 14: what is left, and the limit, or ''. From 15 on, the pace
 * that the process computes of a 429: width, the widest (0 for none), distance, requests that got through, the time for which
 * the distance is kept, and the time since the pause.
 */
export const REPORT = `${OPENING}
local slot, outcome, startedAt, pausesBefore = ARGV[7], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10])
redis.call('ZREM', slots, slot)
if redis.call('HGET', known, 'probe') == slot then redis.call('HDEL', known, 'probe') end
if outcome == 'left' then return reply('done') end
if ARGV[13] ~= '' then
  local remaining, before, since = tonumber(ARGV[13]), readRemaining(), read('since')
  -- Responses overtake one another: a higher number counts only from a request sent after the lower one was read.
  if not before or remaining < before or startedAt >= since or since > now then
    write('remaining', remaining, 'since', now)
  end
  write('observedAt', now)
end
if ARGV[14] ~= '' then write('limit', ARGV[14]) end
local isCurrent = pausesBefore >= read('pauses')
if outcome == 'refused' then
  -- The 429 of a request that was sent before the pause began prolongs that pause.
  if isCurrent then
    write('pauses', pausesBefore + 1, 'refusals', read('refusals') + 1)
    if ARGV[15] then
      write('width', ARGV[15], 'widest', ARGV[16], 'distance', ARGV[17], 'passed', ARGV[18],
        'keptUntil', now + ARGV[19], 'pacedAt', now - ARGV[20])
    end
  end
  pause(tonumber(ARGV[11]), tonumber(ARGV[12]))
elseif isCurrent then
  -- A pause that was prolonged meanwhile ends with a probe of its own.
  if ending('until') <= now then write('refusals', 0) end
  -- As \`widened\` of pace.ts, but in one step: what a process knows lacks what got through elsewhere meanwhile.
  if readPace() then
    local width, widest, distance = read('width') + 1, read('widest'), read('distance')
    write('width', widest > 0 and math.min(width, widest) or width,
      'distance', startedAt > read('keptUntil') and distance * ${LESS} or distance,
      'passed', read('passed') + 1, 'passedAt', math.max(read('passedAt'), startedAt))
  end
end
return reply('done')
`;

/**
 * Tells Redis all that a process holds, and learns what it should know. ARGV 7: '1' if it waits for a slot. 8: the number
 * of its latest slot. From 9 on, each slot that it holds, and its lease in ms, or 0 to leave it as it is. Other leases of
 * the process up to the latest are dropped.
 */
export const SYNC = `${OPENING}
remind()
if ARGV[7] ~= '1' then leaveQueue() end
local holds = {}
for at = 9, #ARGV, 2 do
  holds[ARGV[at]] = true
  local ms = tonumber(ARGV[at + 1])
  if ms > 0 then lease(ARGV[at], ms) end
end
local prefix = process .. ':'
for _, slot in ipairs(redis.call('ZRANGE', slots, 0, -1)) do
  local isOwn = string.sub(slot, 1, #prefix) == prefix
  if isOwn and not holds[slot] and tonumber(string.sub(slot, #prefix + 1)) <= tonumber(ARGV[8]) then
    redis.call('ZREM', slots, slot)
  end
end
return reply('done')
`;
