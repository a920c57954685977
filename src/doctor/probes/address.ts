import { agrees, contradicts, differs, type Finding, type Probe, probe, type Seen, unasked } from "../probe.ts";
import { flawOfRead, isSuccess, outlineOf, pageOf } from "../reading.ts";
import { basePathOf, ELSEWHERE, PROJECTS, WITHOUT_TOKEN } from "../steps.ts";
import { certificateFlaw, type Failure, type Reply } from "../wire.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates are renewed earlier than that. */
const EXPIRY_WARNING_DAYS = 14;
/** What a `Date` header and the time on the way blur. */
const CLOCK_PRECISION_MS = 1_000;
/** Beyond that, a token is renewed at the wrong time. */
const CLOCK_TOLERANCE_MS = 60_000;

function judgeConnection({ first }: Readonly<Record<"first", Reply>>): Finding {
  const { tls, endedAt } = first;
  if (tls === undefined) return agrees("plain http");
  const days = Math.floor((tls.expiresAt - endedAt) / DAY_MS);
  const seen = `${tls.protocol}, signed by ${tls.issuer}, expires in ${days} days`;
  return days < EXPIRY_WARNING_DAYS ? differs(seen) : agrees(seen);
}

function judgeFailedConnection(failure: Failure): Finding {
  const flaw = certificateFlaw(failure);
  return flaw === undefined ? unasked(`no response: ${failure.code}`) : contradicts(`${flaw} (${failure.code})`);
}

function judgeVersion(_: unknown, { baseUrl }: Seen): Finding {
  const basePath = basePathOf(baseUrl);
  // The emulator's paths have no escapes.
  const conventions = /^(?:\/[\w.~-]*[\w~-])+$/.test(basePath) ? { basePath } : {};
  const seen = basePath === "" ? "no path at all" : basePath;
  return basePath.endsWith("/api/v1") ? agrees(seen, conventions) : contradicts(seen, conventions);
}

/** The gap between two clocks, in milliseconds; a `Date` header names a whole second. */
function judgeClock(_: unknown, { replies }: Seen): Finding {
  const dated = replies.flatMap(({ headers, startedAt, endedAt }) => {
    const date = Date.parse(headers.get("date") ?? "");
    return Number.isNaN(date) ? [] : [{ least: date - endedAt, most: date + 999 - startedAt }];
  });
  if (dated.length === 0) return replies.length === 0 ? unasked("no response") : differs("no Date header");
  const least = Math.max(...dated.map((gap) => gap.least));
  const most = Math.min(...dated.map((gap) => gap.most));
  const isSame = least <= CLOCK_PRECISION_MS && most >= -CLOCK_PRECISION_MS;
  const clockOffsetMs = isSame ? 0 : Math.ceil(least / 1_000) * 1_000;
  const seconds = Math.abs(clockOffsetMs) / 1_000;
  const gap = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
  const seen = isSame ? "as this machine's" : `${gap} ${clockOffsetMs > 0 ? "ahead of" : "behind"} this machine's`;
  if (isSame) return agrees(seen, { clockOffsetMs });
  return seconds * 1_000 < CLOCK_TOLERANCE_MS ? differs(seen, { clockOffsetMs }) : contradicts(seen, { clockOffsetMs });
}

function judgeProjects({ projects }: Readonly<Record<"projects", Reply>>): Finding {
  const { status } = projects;
  const seen = outlineOf(projects);
  if (status === 401 || status === 403) return unasked(flawOfRead(projects, "projects:read") ?? seen);
  if (status >= 300 && status < 400) return contradicts(`a redirect: ${seen}`);
  if (status >= 500) return unasked(`the service is failing: ${seen}`);
  if (!isSuccess(projects)) return contradicts(seen);
  const conventions = { successStatus: { "projects.list": status } };
  if (pageOf(projects) === undefined) return contradicts(`${seen}, not a list`, conventions);
  return status === 200 ? agrees(`${seen}, a list`, conventions) : contradicts(`${seen}, a list`, conventions);
}

function judgeElsewhere({ elsewhere }: Readonly<Record<"elsewhere", Reply>>): Finding {
  const { basePath = "" } = elsewhere.request;
  if (isSuccess(elsewhere)) return contradicts(`the service is at ${basePath}`);
  return unasked(`it is not at ${basePath} either (${outlineOf(elsewhere)})`);
}

/** Where the service is, and whether it can be talked to at all. */
export const ADDRESS_PROBES: readonly Probe[] = [
  probe({
    id: "connection",
    question: "Is the connection trusted?",
    about: "client: a certificate that is not trusted is never accepted",
    assumes: "a certificate that this machine trusts",
    asks: { first: WITHOUT_TOKEN },
    judge: judgeConnection,
    judgeFailure: judgeFailedConnection,
  }),
  probe({
    id: "version-segment",
    question: "Does the address end with the version segment?",
    about: 'contract 9: "`/api/v1` is the prefix of every path. Only this version is described."',
    assumes: "/api/v1",
    judge: judgeVersion,
  }),
  probe({
    id: "clock",
    question: "Does the clock of the service agree with this machine's?",
    about: "convention clockOffsetMs; client: `expires_at` is compared with the local clock",
    assumes: "less than 60 s apart",
    judge: judgeClock,
  }),
  probe({
    id: "projects-list",
    question: "Does GET /projects return a list?",
    about: 'contract 7.3: "A successful list call returns status 200"; contract 2: list envelope',
    assumes: "200, JSON with data and next_cursor",
    asks: { projects: PROJECTS },
    judge: judgeProjects,
  }),
  probe({
    id: "elsewhere",
    question: "Is the service at another version segment?",
    about: 'contract 9: "The version is part of the base address"',
    assumes: "no",
    asks: { elsewhere: ELSEWHERE },
    judge: judgeElsewhere,
  }),
];
