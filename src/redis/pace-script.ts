import { CALM_MS, LESS, LESS_AFTER, SOON_MS } from "../core/rate-limit/pace.ts";

/**
 * The width and the distance after a pause, as a part of every script: the rules of `core/rate-limit/pace.ts` in Lua. It
 * takes `now`, `read` and `write` from the opening of the script.
 */
export const PACE = `local CALM, SOON, LESS_AFTER, LESS = ${CALM_MS}, ${SOON_MS}, ${LESS_AFTER}, ${LESS}
-- Nil if no pause is behind. A 'widest' of 0 is none.
local function readPace()
  local calm = now - read('pacedAt')
  if calm < 0 or calm > CALM then return nil end
  return {
    calm = calm, width = read('width'), widest = read('widest'), distance = read('distance'),
    tooNear = read('tooNear'), passed = read('passed'), passedAt = read('passedAt'),
  }
end
local function narrow(startedAt, inFlight, wasAlone)
  local pace = readPace() or { calm = CALM, width = inFlight, distance = 0, tooNear = 0, passed = 0, passedAt = 0 }
  local isSoon = pace.distance > 0 or pace.calm <= SOON
  local distance, tooNear = pace.distance, pace.tooNear
  if isSoon and wasAlone then
    tooNear = distance > 0 and distance or startedAt - pace.passedAt
    local isFound = distance > 0 and pace.passed >= LESS_AFTER
    distance = math.max(isFound and tooNear / LESS or 2 * tooNear, 1)
  end
  local widest = isSoon and math.max(1, math.floor(math.min(pace.width, inFlight) / 2)) or 0
  write('width', 1, 'widest', widest, 'distance', distance, 'tooNear', tooNear,
    'passed', 0, 'passedAt', pace.passedAt, 'pacedAt', now)
end
local function widen(startedAt)
  local pace = readPace()
  if not pace then return end
  local passed, nearer = pace.passed + 1, pace.distance * LESS
  write('width', pace.widest > 0 and math.min(pace.width + 1, pace.widest) or pace.width + 1,
    'distance', passed % LESS_AFTER == 0 and nearer > pace.tooNear and nearer or pace.distance,
    'passed', passed, 'passedAt', math.max(pace.passedAt, startedAt))
end
-- The time until the next may go at its distance from the latest one.
local function distanceLeft()
  local pace = readPace()
  return pace and math.max(0, math.min(pace.distance, pace.distance - (now - read('sentAt')))) or 0
end
`;
