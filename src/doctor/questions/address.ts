import { isLoopback } from "../../core/wire/service.ts";
import {
  agrees,
  contradicts,
  differs,
  type Finding,
  type Question,
  question,
  type Seen,
  unasked,
} from "../question.ts";
import { outlineOf } from "../reading.ts";
import { basePathOf, PROJECTS } from "../steps.ts";
import type { Reply } from "../wire.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates are renewed earlier than that. */
const EXPIRY_WARNING_DAYS = 14;
/** The precision of a `Date` header, less the time on the way. */
const CLOCK_PRECISION_MS = 1_000;
/** Beyond that, a token is renewed at the wrong time. */
const CLOCK_TOLERANCE_MS = 60_000;

function judgeConnection(_: unknown, { baseUrl, replies: [first] }: Seen): Finding {
  if (first === undefined) return unasked("no response");
  const { tls, endedAt } = first; // a later connection may resume its TLS session, without the certificate
  if (tls === undefined) {
    return isLoopback(baseUrl.hostname)
      ? agrees("plain http, within this machine")
      : differs(
          "plain http",
          "new Client() rejects with ConfigError without allowInsecureHttp: others can read the token",
        );
  }
  const days = Math.floor((tls.expiresAt - endedAt) / DAY_MS);
  const seen = `${tls.protocol}, signed by ${tls.issuer}, expires in ${days} days`;
  return days < EXPIRY_WARNING_DAYS
    ? differs(seen, "from then on every call rejects with ConnectionError")
    : agrees(seen);
}

function judgeVersion(_: unknown, { baseUrl }: Seen): Finding {
  const basePath = basePathOf(baseUrl);
  // The emulator's paths have no escapes.
  const conventions = /^(?:\/[\w.~-]*[\w~-])+$/.test(basePath) ? { basePath } : {};
  const seen = basePath === "" ? "no path at all" : basePath;
  const so =
    "nothing fails because of the path itself; another version may have other records, see the other questions";
  return basePath.endsWith("/api/v1") ? agrees(seen, conventions) : contradicts(seen, so, conventions);
}

/** The gap between two clocks, in milliseconds; a `Date` header names a whole second. */
function judgeClock(_: unknown, { replies }: Seen): Finding {
  const dated = replies.flatMap(({ headers, startedAt, endedAt }) => {
    const date = Date.parse(headers.get("date") ?? "");
    return Number.isNaN(date) ? [] : [{ least: date - endedAt, most: date + 999 - startedAt }];
  });
  if (replies.length === 0) return unasked("no response");
  if (dated.length === 0)
    return differs("no Date header", "a Retry-After that is a date is compared with the local clock");
  const least = Math.max(...dated.map((gap) => gap.least));
  const most = Math.min(...dated.map((gap) => gap.most));
  const isSame = least <= CLOCK_PRECISION_MS && most >= -CLOCK_PRECISION_MS;
  const clockOffsetMs = isSame ? 0 : Math.ceil(least / 1_000) * 1_000;
  const seconds = Math.abs(clockOffsetMs) / 1_000;
  const gap = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} minutes`;
  const seen = isSame ? "as this machine's" : `${gap} ${clockOffsetMs > 0 ? "ahead of" : "behind"} this machine's`;
  if (isSame) return agrees(seen, { clockOffsetMs });
  const so = `rotatingToken() compares expires_at with the local clock, and renews by so much too ${clockOffsetMs > 0 ? "late" : "early"}`;
  const isSmall = seconds * 1_000 < CLOCK_TOLERANCE_MS;
  return (isSmall ? differs : contradicts)(seen, so, { clockOffsetMs });
}

function judgeProjects({ projects }: Readonly<Record<"projects", Reply>>): Finding {
  const { status } = projects;
  const seen = `${outlineOf(projects)}, a list`;
  const conventions = { successStatus: { "projects.list": status } };
  return status === 200
    ? agrees(seen, conventions)
    : contradicts(seen, "nothing: the client takes any 2xx", conventions);
}

export const ADDRESS_QUESTIONS: readonly Question[] = [
  question({
    id: "connection",
    question: "Is the connection trusted?",
    about: "client: a certificate that is not trusted is never accepted",
    assumes: "a certificate that this machine trusts",
    judgesPages: true,
    judge: judgeConnection,
  }),
  question({
    id: "version-segment",
    question: "Does the address end with the version segment?",
    about: 'the API documentation says "`/api/v1` is the prefix of every path. Only this version is described."',
    assumes: "/api/v1",
    judge: judgeVersion,
  }),
  question({
    id: "clock",
    question: "Does the clock of the service agree with this machine's?",
    about: "convention clockOffsetMs; client: `expires_at` is compared with the local clock",
    assumes: "less than 60 s apart",
    judge: judgeClock,
  }),
  question({
    id: "projects-list",
    question: "Does GET /projects return a list?",
    about: 'the API documentation says "A successful list call returns status 200"',
    assumes: "200, JSON with data and next_cursor",
    asks: { projects: PROJECTS },
    judge: judgeProjects,
  }),
];
