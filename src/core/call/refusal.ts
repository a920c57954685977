import { isRecord, parseUrl } from "../checks/values.ts";
import { oneLine } from "../secrets/redact.ts";
import type { ResponseHead } from "../wire/head.ts";
import { encodePath } from "../wire/path.ts";
import type { Operation } from "./operation.ts";

export const MAX_DETAIL = 300;

/** The command that finds out where a service differs from what the client expects. */
export const DOCTOR = "`npx project-automation doctor` compares the service with what this client expects";

/** The doubt about a body that is not as the service's bodies are. */
export const FOREIGN = "so it may not be from the service";

interface ServiceWords {
  readonly code: string | undefined;
  readonly detail: string | undefined;
}

const CODE = /^[\w.:-]{1,64}$/;

/** Tags of pages, comments, closing tags and attributes. `<integer>` and other words in angle brackets are none. */
const MARKUP =
  /<(?:[!?/]|[a-z][\w-]*\s[^<>]*=|(?:html|head|body|script|style|br|hr|p|div|span|h[1-6]|img|svg|iframe)\b)/i;

/**
 * Code and sentence of a refusal's body, which has no secrets any more. They stand in the body itself, in its `error`, or in
 * the first of its `errors`. The sentence is `message`, else `detail`, or a string in the place of such an object. The code
 * beside the sentence counts first.
 */
export function serviceWords(body: unknown): ServiceWords {
  if (!isRecord(body)) return { code: undefined, detail: undefined };
  const { error, errors } = body;
  const isCode = typeof error === "string" && CODE.test(error);
  const places = [body, isCode ? {} : placeOf(error), placeOf(Array.isArray(errors) ? errors[0] : undefined)];
  const texts = places.map(({ message, detail }) => sentenceOf(message) ?? sentenceOf(detail));
  const spoken = places.filter((_, index) => texts[index] !== undefined);
  const besides = [...spoken, ...places].find(({ code }) => code !== undefined);
  const code = typeof error === "string" ? error : besides?.["code"];
  return { code: typeof code === "string" ? code : undefined, detail: texts.find((text) => text !== undefined) };
}

function placeOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : { message: value };
}

function sentenceOf(value: unknown): string | undefined {
  const line = typeof value === "string" ? oneLine(value, MAX_DETAIL) : "";
  return line === "" || MARKUP.test(line) ? undefined : line;
}

export function shownCode(code: string | undefined): string {
  return code !== undefined && CODE.test(code) ? ` ${code}` : "";
}

/** Origin and path that a redirect leads to, without query and user; `undefined` if it does not say, or no URL. */
export function redirectTarget({ headers }: ResponseHead, from: string): string | undefined {
  const location = headers.get("location");
  const url = location === null ? undefined : parseUrl(location, from);
  return url && `${url.protocol}${url.host && "//"}${url.host}${url.pathname}`;
}

export interface Refused {
  readonly head: ResponseHead;
  readonly operation: Pick<Operation<unknown>, "path" | "scope" | "adviceOn403">;
  readonly baseUrl: string;
  readonly token: string;
  readonly isFromService: boolean | undefined;
  /** A body that is no JSON; an empty text where nothing at all says that the service has answered. */
  readonly foreign: { readonly mediaType: string | undefined; readonly text: string } | undefined;
  readonly detail: string | undefined;
  /** The longest wait after which the call would be sent again; `undefined` where it is not. */
  readonly maxRetryAfterMs: number | undefined;
  readonly location: string | undefined;
}

export function adviceOn(refused: Refused): readonly string[] {
  return RULES.flatMap((rule) => rule(refused) ?? []);
}

/** The answers of nginx, Apache and Go to plain HTTP at a port for TLS. */
const HTTPS_PORT =
  /plain HTTP (?:request was sent )?to (?:an )?(?:HTTPS port|SSL-enabled)|HTTP request to an HTTPS server/i;

const FOLLOWED = 'keep redirect: "manual"; if another address is meant, return new Response(response.body, response)';

type Rule = (refused: Refused) => string | undefined;

const RULES: readonly Rule[] = [
  ({ head: { status, isFollowed }, location }) => {
    if (status >= 400) return undefined;
    if (isFollowed) return `fetch has followed a redirect to ${location ?? "another address"}; ${FOLLOWED}`;
    if (status === 304) return "only If-None-Match or If-Modified-Since, a header, asks for a 304";
    return `${location === undefined ? "" : `it leads to ${location}; `}redirects are not followed: check baseUrl`;
  },
  ({ foreign, baseUrl, isFromService, head: { status } }) => {
    if (foreign === undefined) {
      if (isFromService || status < 400) return undefined;
      return `its body has no \`error\`, ${FOREIGN}`;
    }
    if (baseUrl.startsWith("http:") && HTTPS_PORT.test(foreign.text))
      return "this port speaks https:, and baseUrl says http:";
    const type = foreign.mediaType === undefined ? "not JSON" : `${foreign.mediaType}, not JSON`;
    const body = foreign.text === "" ? "it has no readable body" : `the body is ${type}`;
    return `${body}, ${FOREIGN}; ${DOCTOR}`;
  },
  ({ head: { status, headers, retryAfterMs }, maxRetryAfterMs = Number.POSITIVE_INFINITY }) => {
    const limit = Number(retryAfterMs) > maxRetryAfterMs ? `: retry.maxRetryAfterMs is ${maxRetryAfterMs} ms` : "";
    if (retryAfterMs) return `the service asks to wait ${seconds(retryAfterMs)}${limit}`;
    if (retryAfterMs === 0 || (status !== 429 && status !== 503)) return undefined;
    return headers.has("retry-after") ? "its Retry-After is neither seconds nor an HTTP date" : undefined;
  },
  ({ head: { status }, baseUrl }) => {
    if (status !== 404 || /\/v\d[^/]*$/i.test(baseUrl)) return undefined;
    const surplus = /\/(?:me|tokens|projects|issues|sessions)$/i.exec(baseUrl)?.[0];
    return surplus === undefined
      ? "if every call ends so, baseUrl may lack its version segment, such as /api/v1"
      : `if every call ends so, leave ${surplus} out of baseUrl: it ends with the version segment, such as /api/v1`;
  },
  ({ head: { status }, operation }) =>
    status === 404 && /%(?:2F|25|5C)/.test(encodePath(operation.path))
      ? "a proxy may have decoded its path: pass the id"
      : undefined,
  ({ head: { status }, token, foreign }) =>
    status === 401 && foreign === undefined && !/^[^_]+_.+_.+$/.test(token)
      ? "the token does not have the form PREFIX_KEY_SECRET: it may be the id of a token, or cut off"
      : undefined,
  ({ head: { status }, operation, isFromService, detail }) => {
    if (status !== 403 || !isFromService) return undefined;
    if (operation.adviceOn403 !== undefined) return operation.adviceOn403(detail);
    const asked = operation.scope === undefined ? "" : `the API documentation asks for ${operation.scope}: `;
    return `${asked}both the token's scopes and its owner's permissions must allow it`;
  },
];

export function seconds(ms: number): string {
  return `${Math.ceil(ms / 100) / 10} s`;
}
