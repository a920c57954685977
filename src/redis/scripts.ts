/**
 * What runs inside Redis. Each script is one step that nothing can come between, by the clock of Redis alone.
 *
 * A token has two keys: a hash with what the service has said of it, and a sorted set with a lease for each request that
 * is in flight, scored by when it runs out. Both expire by themselves.
 */

const OPENING = `
-- ARGV 1 and 2: when this was sent by this clock, as far as is known, or 0; and how late it may be.
local known, slots = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local late = tonumber(ARGV[1]) > 0 and now - ARGV[1] > tonumber(ARGV[2])
local WINDOW = 60000
local function read(field) return tonumber(redis.call('HGET', known, field) or 0) end
-- Who died holding a slot holds it no longer.
redis.call('ZREMRANGEBYSCORE', slots, '-inf', now)
local function lease(slot, ms)
  redis.call('ZADD', slots, now + ms, slot)
  redis.call('PEXPIRE', slots, ms)
end
-- Once the pause and the window are over, nothing of it means anything.
local function keep()
  redis.call('PEXPIRE', known, math.max(0, read('until') - now) + WINDOW)
end
-- Redis may have forgotten what a process has not.
local function remind(refusals)
  if refusals == '' or redis.call('EXISTS', known) == 1 then return end
  redis.call('HSET', known, 'mustProbe', 1, 'refusals', refusals)
  keep()
end
local function pause(asked, lasts)
  redis.call('HSET', known, 'mustProbe', 1,
    'askedUntil', math.max(read('askedUntil'), now + asked), 'until', math.max(read('until'), now + lasts))
end
-- How many more may go, or -1 if that is not known. Never more in flight than is left; at 0, one at a time.
local function room()
  if read('mustProbe') == 1 then return 0 end
  if redis.call('HEXISTS', known, 'remaining') == 0 or now - read('heardAt') > WINDOW then return -1 end
  return math.max(0, math.max(1, read('remaining')) - redis.call('ZCARD', slots))
end
local function reply(verdict)
  local said = redis.call('HEXISTS', known, 'remaining') == 1
  local limited = redis.call('HEXISTS', known, 'limit') == 1
  return {
    now, verdict, math.max(0, read('until') - now), math.max(0, read('askedUntil') - now),
    read('pauses'), read('refusals'), read('streak'), read('mustProbe'),
    said and read('remaining') or -1, now - read('since'), now - read('heardAt'), limited and read('limit') or -1,
    room(),
  }
end
`;

/**
 * Asks for a slot. ARGV 3 and 4: the slot, and its lease in ms. 5: refusals in a row, if the process knows of a pause after
 * which nothing got through, or ''.
 */
export const TAKE = `${OPENING}
-- Who has asked in vain for so long does not wait for it any more.
if late then return reply('late') end
remind(ARGV[5])
if read('until') > now then return reply('paused') end
if read('mustProbe') == 1 then
  -- The probe's lease is that of its slot, so the role passes on when either is given back, or lapses.
  local probe = redis.call('HGET', known, 'probe')
  if probe and redis.call('ZSCORE', slots, probe) then return reply('full') end
  redis.call('HSET', known, 'probe', ARGV[3])
elseif room() == 0 then
  return reply('full')
end
lease(ARGV[3], ARGV[4])
return reply('granted')
`;

/**
 * Gives a slot back, with what the service answered. ARGV 3: the slot. 4: 'refused', 'answered', or 'left' if there was
 * no answer. 5 and 6: when the slot was granted, and how many pauses had begun then. 7 and 8: of a refusal, how long it
 * asked to wait, and that with jitter. 9 and 10: what is left, and the limit, or ''.
 */
export const REPORT = `${OPENING}
local slot, outcome, startedAt, pausesBefore = ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('ZREM', slots, slot)
-- What comes late is about a window that may be over.
if late or outcome == 'left' then return reply('done') end
if ARGV[9] ~= '' then
  local remaining = tonumber(ARGV[9])
  local old = redis.call('HEXISTS', known, 'remaining') == 0 or now - read('heardAt') > WINDOW
  -- Answers overtake one another: a higher number is believed only of a request sent after the lower was heard.
  if old or startedAt >= read('since') or remaining < read('remaining') then
    redis.call('HSET', known, 'remaining', remaining, 'since', now)
  end
  redis.call('HSET', known, 'heardAt', now)
end
if ARGV[10] ~= '' then redis.call('HSET', known, 'limit', ARGV[10]) end
local isProbe = redis.call('HGET', known, 'probe') == slot
if isProbe then redis.call('HDEL', known, 'probe') end
if outcome == 'refused' then
  -- A refusal of something sent before the pause began prolongs it and is no other.
  if pausesBefore >= read('pauses') then
    redis.call('HSET', known, 'pauses', pausesBefore + 1)
    redis.call('HINCRBY', known, 'refusals', 1)
  end
  pause(ARGV[7], ARGV[8])
else
  -- A pause that began meanwhile ends with a probe of its own.
  if isProbe and read('until') <= now then redis.call('HSET', known, 'mustProbe', 0) end
  if pausesBefore >= read('pauses') and read('refusals') > 0 then
    redis.call('HSET', known, 'refusals', 0)
    redis.call('HINCRBY', known, 'streak', 1)
  end
end
keep()
return reply('done')
`;

/**
 * Renews the leases of a process, and tells again what it knows, in case Redis was away. ARGV 3: the lease in ms. 4: as 5
 * of the first script. 5 and 6: what is left of the pause, as asked and with jitter. From 7 on, the slots.
 */
export const RENEW = `${OPENING}
if late then return reply('late') end
for at = 7, #ARGV do lease(ARGV[at], ARGV[3]) end
remind(ARGV[4])
if tonumber(ARGV[6]) > 0 then pause(ARGV[5], ARGV[6]) end
keep()
return reply('done')
`;
