/**
 * Under `exactOptionalPropertyTypes`: whatever may be left out may be `undefined`, in everything that users give. The
 * address and the token of a client are the exception: one that is not set is none that was left out.
 */
import type * as client from "project-automation";
import type * as telemetry from "project-automation/opentelemetry";
import type * as testing from "project-automation/testing";
import type * as server from "project-automation/testing/node";

type Given<Function> = Function extends (...given: infer Arguments) => unknown ? Arguments[number] : never;
type Made<Class> = Class extends abstract new (...given: infer Arguments) => unknown ? Arguments[number] : never;

/** The optional keys of an object type that take no `undefined`. */
type Refusing<Options> = Options extends object
  ? {
      [Key in keyof Options]-?: Partial<Pick<Options, Key>> extends Pick<Options, Key>
        ? { [Name in Key]: undefined } extends Pick<Options, Key>
          ? never
          : Key
        : never;
    }[keyof Options]
  : never;

/** Each with its name, so that a failure says where. */
interface Refused {
  call: Refusing<client.CallOptions>;
  client: Exclude<Refusing<client.ClientOptions>, "baseUrl" | "token">;
  errorDetails: Refusing<client.ErrorDetails>;
  errors: Refusing<Made<(typeof client)[ErrorName]>>;
  callObserver: Refusing<client.CallObserver>;
  issue: Refusing<client.IssueCreateInput>;
  list: Refusing<client.ListOptions>;
  listParams: Refusing<client.ListParams>;
  methods: Refusing<Given<Method<client.Tokens | client.Projects | client.Issues | client.Sessions>>>;
  paginate: Refusing<client.CustomList<unknown>>;
  request: Refusing<client.CustomRequest<unknown>>;
  retry: Refusing<client.RetryOptions>;
  rotate: Refusing<client.RotateOptions>;
  rotatingToken: Refusing<client.RotatingTokenOptions>;
  schema: Refusing<client.StandardSchema["~standard"]> | Refusing<client.StandardIssue>;
  snapshot: Refusing<client.RateLimitSnapshot>;
  rateLimiter: Refusing<Given<Method<client.RateLimiter | client.Permit>>>;
  telemetry: Refusing<telemetry.TelemetrySettings>;
  toArray: Refusing<client.ToArrayOptions>;
  token: Refusing<client.TokenCreateInput>;
  wait: Refusing<client.WaitOptions>;
  watch: Refusing<client.WatchOptions>;

  conventions: Refusing<testing.Conventions>;
  emulator: Refusing<testing.EmulatorOptions>;
  emulatorMethods: Refusing<Given<Method<Omit<testing.Emulator, "fetch">>>>;
  extraFields: Refusing<testing.ExtraFields>;
  fault: Refusing<testing.Fault>;
  project: Refusing<testing.ProjectSeed>;
  rateLimit: Refusing<testing.RateLimit>;
  refusal: Refusing<testing.RefusalConvention>;
  refusals: Refusing<NonNullable<testing.Conventions["refusals"] | testing.Conventions["successStatus"]>>;
  server: Refusing<server.StartOptions>;
  tables: Refusing<Given<Method<testing.Emulator[TableName]>>>;
}
type Method<Class> = Class extends object ? Class[keyof Class] : never;
type ErrorName = { [Name in keyof typeof client]: Name extends `${string}Error` ? Name : never }[keyof typeof client];
type TableName = "projects" | "issues" | "sessions" | "owners" | "tokens";

export const refused: { [Name in keyof Refused]: [Refused[Name]] extends [never] ? true : Refused[Name] } = {
  call: true,
  client: true,
  errorDetails: true,
  errors: true,
  callObserver: true,
  issue: true,
  list: true,
  listParams: true,
  methods: true,
  paginate: true,
  request: true,
  retry: true,
  rotate: true,
  rotatingToken: true,
  schema: true,
  snapshot: true,
  rateLimiter: true,
  telemetry: true,
  toArray: true,
  token: true,
  wait: true,
  watch: true,
  conventions: true,
  emulator: true,
  emulatorMethods: true,
  extraFields: true,
  fault: true,
  project: true,
  rateLimit: true,
  refusal: true,
  refusals: true,
  server: true,
  tables: true,
};

// The measure finds what it is made to find, also in unions and beside what is fine.
interface Mixed {
  strict?: string;
  loose?: string | undefined;
  required: string;
}
export const measured: Found<Mixed> extends "strict" ? Found<string | Mixed> : "it finds too much" = "strict";
type Found<Options> = [Refusing<Options>] extends [never] ? "nothing" : Refusing<Options>;
