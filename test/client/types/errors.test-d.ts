import { expectTypeOf, test } from "vitest";
import type { BulkCounts, JournalErrorReason } from "../../../src/bulk/index.ts";
import {
  type AnyAutomationError,
  ApiError,
  type ApiErrorKind,
  type AuthenticationError,
  type AutomationError,
  type ConnectionError,
  isAutomationError,
  type PaginationError,
  RateLimitError,
  type ResponseValidationError,
  type ServerError,
  type TimeoutError,
  type TimeoutPhase,
  type ValidationIssue,
} from "../../../src/client/index.ts";

test("kind is a union of literals, one per class", () => {
  expectTypeOf<AnyAutomationError["kind"]>().toEqualTypeOf<
    | "config"
    | "argument"
    | "api"
    | "bad_request"
    | "auth"
    | "permission"
    | "not_found"
    | "conflict"
    | "rate_limit"
    | "server"
    | "redirect"
    | "connection"
    | "timeout"
    | "abort"
    | "parse"
    | "validation"
    | "pagination"
    | "token_provider"
    | "journal"
    | "bulk"
    | "send"
  >();
  expectTypeOf<AuthenticationError["kind"]>().toEqualTypeOf<"auth">();
  expectTypeOf<ServerError["kind"]>().toEqualTypeOf<"server">();
  expectTypeOf<ApiError["kind"]>().toEqualTypeOf<ApiErrorKind>();
});

test("a switch on kind narrows to the class, and is exhaustive", () => {
  const tell = (error: AnyAutomationError): string => {
    switch (error.kind) {
      case "rate_limit":
        expectTypeOf(error).toEqualTypeOf<RateLimitError>();
        return `${error.retryAfterMs} ${error.limit} ${error.remaining}`;
      case "validation":
        expectTypeOf(error).toEqualTypeOf<ResponseValidationError>();
        expectTypeOf(error.issues).toEqualTypeOf<readonly ValidationIssue[]>();
        return error.rawBody ?? "";
      case "timeout":
        expectTypeOf(error.phase).toEqualTypeOf<TimeoutPhase>();
        expectTypeOf(error).toEqualTypeOf<TimeoutError>();
        return error.phase;
      case "connection":
        expectTypeOf(error).toEqualTypeOf<ConnectionError>();
        return error.platformCode ?? "";
      case "pagination":
        expectTypeOf(error).toEqualTypeOf<PaginationError>();
        expectTypeOf(error.cursor).toEqualTypeOf<string | null | undefined>();
        return "";
      case "api":
        expectTypeOf(error.kind).toEqualTypeOf<"api">();
        expectTypeOf(error.status).toEqualTypeOf<number>();
        return "";
      case "config":
      case "argument":
      case "bad_request":
      case "auth":
      case "permission":
      case "not_found":
      case "conflict":
      case "server":
      case "redirect":
      case "abort":
      case "parse":
      case "token_provider":
        return error.message;
      case "journal":
        expectTypeOf(error.reason).toEqualTypeOf<JournalErrorReason>();
        return error.reason;
      case "bulk":
        expectTypeOf(error.summary).toEqualTypeOf<BulkCounts>();
        expectTypeOf(error.stoppedBy).toEqualTypeOf<AutomationError | undefined>();
        return error.message;
      case "send":
        expectTypeOf(error.result).toBeUnknown();
        return error.key;
      default:
        expectTypeOf(error).toBeNever();
        return error;
    }
  };
  expectTypeOf(tell).returns.toEqualTypeOf<string>();
});

test("a switch without one of the kinds does not compile", () => {
  const tell = (error: AnyAutomationError): string => {
    switch (error.kind) {
      case "rate_limit":
        return "";
      default:
        // @ts-expect-error eighteen kinds are left
        return error satisfies never;
    }
  };
  expectTypeOf(tell).returns.toEqualTypeOf<string>();
});

test("the guard and instanceof narrow what a catch has", () => {
  const caught: unknown = undefined;
  if (isAutomationError(caught)) expectTypeOf(caught).toEqualTypeOf<AnyAutomationError>();
  if (caught instanceof ApiError) expectTypeOf(caught.status).toEqualTypeOf<number>();
  if (caught instanceof RateLimitError) expectTypeOf(caught.kind).toEqualTypeOf<"rate_limit">();
  expectTypeOf<AnyAutomationError>().toExtend<AutomationError>();
  expectTypeOf<AutomationError>().toExtend<Error>();
});

test("the outcome is one of four", () => {
  expectTypeOf<AutomationError["outcome"]>().toEqualTypeOf<
    "not_sent" | "rejected" | "accepted" | "unknown" | undefined
  >();
});
