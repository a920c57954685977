import { describe, expect, test } from "vitest";
import type { Finding, Question } from "../../src/doctor/question.ts";
import { QUESTIONS } from "../../src/doctor/questions.ts";
import { type Report, textOf, verdictOf } from "../../src/doctor/report.ts";
import { certificateProblem, type Reply, type TlsFacts } from "../../src/doctor/wire.ts";

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 24 * 60 * 60 * 1000;

interface Made {
  readonly headers?: Readonly<Record<string, string>>;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly tls?: TlsFacts;
}

function reply({ headers = {}, startedAt = NOW, endedAt = NOW, tls }: Made): Reply {
  return {
    kind: "response",
    status: 200,
    headers: new Headers(headers),
    text: "{}",
    json: {},
    request: { path: "/projects" },
    startedAt,
    endedAt,
    repeatsToken: false,
    tls,
  };
}

function judge(id: string, replies: readonly Reply[]): Finding {
  const found: Question | undefined = QUESTIONS.find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no question ${id}`);
  const [first = reply({})] = replies;
  const answers = Object.fromEntries(Object.keys(found.asks).map((name) => [name, first]));
  return found.judge(answers, { baseUrl: new URL("https://service.invalid/api/v1"), replies });
}

describe("the clock", () => {
  const at = (ms: number): string => new Date(NOW + ms).toUTCString();
  test.each<[string, readonly Made[], Partial<Finding>]>([
    ["the same second", [{ headers: { date: at(0) } }], { verdict: "agrees" }],
    ["a slow response", [{ headers: { date: at(4_000) }, endedAt: NOW + 8_000 }], { verdict: "agrees" }],
    ["a second that has just begun", [{ headers: { date: at(1_000) }, endedAt: NOW + 995 }], { verdict: "agrees" }],
    [
      "ten seconds ahead",
      [{ headers: { date: at(10_000) } }],
      { verdict: "differs", seen: "10 s ahead of this machine's" },
    ],
    [
      "two minutes behind",
      [{ headers: { date: at(-120_000) } }],
      { verdict: "contradicts", seen: "2 minutes behind this machine's" },
    ],
    [
      "several responses, of which the fastest counts",
      [
        { headers: { date: at(70_000) }, endedAt: NOW + 30_000 },
        { headers: { date: at(70_000) }, endedAt: NOW + 100 },
      ],
      { verdict: "contradicts", seen: "70 s ahead of this machine's" },
    ],
    ["no Date header", [{}], { verdict: "differs", seen: "no Date header" }],
    ["no response", [], { verdict: "not_asked" }],
  ])("%s", (_, made, finding) => {
    expect(judge("clock", made.map(reply))).toMatchObject(finding);
  });
});

describe("the certificate", () => {
  const tls = { protocol: "TLSv1.3", issuer: "An Authority" };
  test.each([
    [90, "agrees", "TLSv1.3, signed by An Authority, expires in 90 days"],
    [13, "differs", "TLSv1.3, signed by An Authority, expires in 13 days"],
  ] as const)("that expires in %d days", (days, verdict, seen) => {
    const made = reply({ tls: { ...tls, expiresAt: NOW + days * DAY_MS } });
    expect(judge("connection", [made])).toMatchObject({ verdict, seen });
  });

  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "the certificate is self-signed"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "the certificate is self-signed"],
    ["CERT_HAS_EXPIRED", "the certificate has expired"],
    ["CERT_NOT_YET_VALID", "the certificate is not valid yet"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "the certificate is for another host"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "the certificate is signed by an authority that is not trusted"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "this port speaks http:, and the address says https:"],
    ["EPROTO", "this port speaks http:, and the address says https:", "ssl3_get_record:wrong version number"],
    ["EPROTO", "the TLS handshake failed", "tlsv1 alert internal error"],
    ["ECONNREFUSED", undefined],
    ["TIMEOUT", undefined],
  ])("%s: %s", (code, problem, message = "") => {
    expect(certificateProblem({ code, message })).toBe(problem);
  });
});

describe("rate limit headers", () => {
  const seen = { "ratelimit-limit": "600", "ratelimit-remaining": "599" };
  test.each<[string, Readonly<Record<string, string>>, Partial<Finding>]>([
    ["numbers", seen, { verdict: "agrees", seen: "600; 599 left" }],
    ["with a window", { ...seen, "ratelimit-limit": "600, 600;w=60" }, { verdict: "differs" }],
    ["only one of them", { "ratelimit-limit": "600" }, { verdict: "contradicts", seen: "no RateLimit-Remaining" }],
    [
      "a word",
      { ...seen, "ratelimit-remaining": "many" },
      { verdict: "contradicts", seen: "not numbers: 600; many left" },
    ],
  ])("%s", (_, headers, finding) => {
    expect(judge("rate-limit-headers", [reply({ headers })])).toMatchObject(finding);
  });
});

describe("CORS", () => {
  const expose = "Retry-After, RateLimit-Limit, RateLimit-Remaining";
  test.each<[string, Readonly<Record<string, string>>, Partial<Finding>]>([
    [
      "everything",
      { "access-control-allow-origin": "*", "access-control-expose-headers": expose },
      { verdict: "agrees" },
    ],
    ["nothing", {}, { verdict: "differs", conventions: { cors: { allowOrigin: null } } }],
    [
      "all but one header",
      { "access-control-allow-origin": "*", "access-control-expose-headers": "ratelimit-limit, ratelimit-remaining" },
      { verdict: "differs", seen: "* may read the response, but not Retry-After" },
    ],
    [
      "every header",
      { "access-control-allow-origin": "*", "access-control-expose-headers": "*" },
      { verdict: "agrees" },
    ],
  ])("%s", (_, headers, finding) => {
    expect(judge("cors", [reply({ headers })])).toMatchObject(finding);
  });
});

describe("the report", () => {
  const report: Report = {
    doctor: "1.0.0",
    baseUrl: "https://service.invalid/api/v1",
    at: "2026-11-22T12:00:00.000Z",
    requests: 1,
    result: "agrees",
    verdict: "this is the service",
    tokenLeftBehind: false,
    questions: [
      {
        id: "one",
        verdict: "agrees",
        question: "Is it?",
        seen: "it is ".repeat(20).trim(),
        assumes: "it",
        about: "API documentation",
      },
      {
        id: "two",
        verdict: "differs",
        question: "Was it?",
        seen: "x".repeat(200),
        assumes: "it",
        about: "API documentation",
        so: "y".repeat(150),
      },
    ],
  };

  test("is the verdict and what differs, with its consequence, if not every question is asked for", () => {
    const [one, two] = report.questions;
    const third = { ...two, id: "three", verdict: "contradicts", seen: "no", so: "it rejects" } as const;
    const questions = [one, { ...two, seen: "was", so: "nothing" }, third].filter((question) => question !== undefined);
    expect(
      textOf({ ...report, questions: questions as Report["questions"] }, { width: 80, all: false }),
    ).toBe(`this is the service
https://service.invalid/api/v1, 1 request answered

CONTRADICTS three: Was it?
  seen:     no
  assumed:  it
  so:       it rejects
  about:    API documentation

differs two: Was it?
  seen:     was
  assumed:  it
  so:       nothing
`);
  });

  test("of all questions has those that agree, too, in lines of the given width", () => {
    const lines = textOf(report, { width: 80, all: true }).split("\n");
    expect(lines.slice(3, 6)).toEqual([
      "differs two: Was it?",
      `  seen:     ${"x".repeat(68)}`,
      `            ${"x".repeat(68)}`,
    ]);
    expect(lines.slice(-6, -1)).toEqual([
      "",
      "ok one: Is it?",
      `  seen:     ${"it is ".repeat(11)}it`,
      `            is${" it is".repeat(8)}`,
      "  assumed:  it",
    ]);
  });

  test.each([
    [[], undefined, "this is the service; nothing differs from what is assumed (0 as assumed, 0 not asked)"],
    [
      ["agrees", "agrees", "contradicts", "not_asked"],
      undefined,
      "this is the service; 1 answer contradicts the API documentation (2 as assumed, 1 not asked)",
    ],
    [
      ["differs", "differs", "contradicts", "contradicts"],
      "the run was interrupted",
      "the run was interrupted; 2 answers contradict the API documentation, and 2 answers differ from what is assumed (0 as assumed, 0 not asked)",
    ],
  ] as const)("%j comes to a sentence", (verdicts, halted, sentence) => {
    const questions = verdicts.map((verdict) => ({
      id: "one",
      verdict,
      question: "",
      seen: "",
      assumes: "",
      about: "",
    }));
    expect(verdictOf(questions, halted)).toBe(sentence);
  });
});
