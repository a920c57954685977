/** Responses that are small on the wire and much else: what a faulty or hostile service can send. */
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** What is sent with which call. */
export interface Shape {
  readonly name: string;
  readonly call: "projects.list" | "tokens.create" | "request" | "request with classic zod";
  readonly status: number;
  readonly text: string;
}

/** No response is larger on the wire. */
export const WIRE_BYTES: number = 64 * 1024;

const MIB = 1024 * 1024;
/** The default limit on a success body. */
const CAP = 4 * MIB;
/** More values than an ordinary response has, and fewer than fit into it. */
const VALUES = 32 * 1024;

const filled = (unit: string, size: number): string => unit.repeat(Math.floor(size / unit.length));
const keys = (count: number, value: string): string =>
  Array.from({ length: count }, (_, n) => `"k${n.toString(36)}":${value}`).join();
const page = (items: string): string => `{"data":[${items}],"next_cursor":null}`;
const token = (scopes: string): string =>
  `{"id":"t","name":"n","key_id":"k","scopes":[${scopes}],"expires_at":"2030-01-01T00:00:00Z","plaintext":"pat_k_s"}`;

const PAGE_ITEMS = { numbers: "0,", arrays: "[],", objects: "{},", strings: '"ab",', records: '{"id":1},' };

/** Each unit as a page over the size limit, right below it, of many values, and of as many items as a page may have. */
const pages: Shape[] = Object.entries(PAGE_ITEMS).flatMap(([what, unit]) =>
  [
    { size: "60 MiB", items: filled(unit, 60 * MIB) },
    { size: "4 MiB", items: filled(unit, CAP - 100) },
    { size: "many values", items: unit.repeat(Math.floor((VALUES - 10) / (what === "numbers" ? 1 : 2))) },
    { size: "most items", items: unit.repeat(10_000) },
  ].map(({ size, items }) => ({
    name: `a page of ${what}, ${size}`,
    call: "projects.list" as const,
    status: 200,
    text: page(items.slice(0, -1)),
  })),
);

const others: Shape[] = [
  {
    name: "wrong scopes, 60 MiB",
    call: "tokens.create",
    status: 201,
    text: token(filled("0,", 60 * MIB).slice(0, -1)),
  },
  {
    name: "wrong scopes, many values",
    call: "tokens.create",
    status: 201,
    text: token("0,".repeat(VALUES - 20).slice(0, -1)),
  },
  { name: "a scope of 4 MiB", call: "tokens.create", status: 201, text: token(`"${"a".repeat(CAP - 200)}"`) },
  {
    name: "expires_at of 4 MiB",
    call: "tokens.create",
    status: 201,
    text: token("").replace("00Z", `00.${"1".repeat(CAP - 200)}`),
  },
  { name: "a number of 4 MiB", call: "request", status: 200, text: "9".repeat(CAP - 10) },
  { name: "white space, 4 MiB", call: "request", status: 200, text: `${" ".repeat(CAP - 10)}0` },
  { name: "escapes, 4 MiB", call: "request", status: 200, text: `"${filled("\\u005f", CAP - 10)}"` },
  { name: "nested arrays, 4 MiB", call: "request", status: 200, text: "[".repeat(CAP / 2) + "]".repeat(CAP / 2) },
  {
    name: "nested objects, 4 MiB",
    call: "request",
    status: 200,
    text: `${filled('{"a":', CAP - MIB)}0${"}".repeat((CAP - MIB) / 5)}`,
  },
  {
    name: "nested arrays, often",
    call: "request",
    status: 200,
    text: `[${filled(`${"[".repeat(900)}${"]".repeat(900)},`, VALUES - 2_000)}0]`,
  },
  { name: "a million keys", call: "request", status: 200, text: `{${keys(1_000_000, "0")}}` },
  { name: "keys, many values", call: "request", status: 200, text: `{${keys(VALUES - 10, "0")}}` },
  {
    name: "keys __proto__, many values",
    call: "request",
    status: 200,
    text: `[${filled('{"__proto__":0},', (VALUES / 2 - 10) * 15)}0]`,
  },
  {
    name: "strings, many values",
    call: "request",
    status: 200,
    text: `[${filled(`"${"a".repeat(122)}",`, CAP - 100)}0]`,
  },
  {
    name: "wrong records, many values",
    call: "request with classic zod",
    status: 200,
    text: page(filled('{"id":"abcd"},', (VALUES / 2 - 10) * 14).slice(0, -1)),
  },
  {
    name: "a refusal of 60 MiB",
    call: "projects.list",
    status: 400,
    text: `{"error":"e","deep":${filled("[", 60 * MIB)}`,
  },
  {
    name: "a refusal of arrays, 64 KiB",
    call: "projects.list",
    status: 400,
    text: `{"error":"e","list":[${filled("[],", 65_000)}0]}`,
  },
  {
    name: "a refusal of levels, 64 KiB",
    call: "projects.list",
    status: 400,
    text: `{"error":"e","deep":${"[".repeat(32_000)}${"]".repeat(32_000)}}`,
  },
];

export const SHAPES: readonly Shape[] = [...pages, ...others];

/** The codings of a shape that fit on the wire. */
export function encode(text: string): { readonly coding: string; readonly body: Uint8Array }[] {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 } };
  return [
    { coding: "gzip", body: gzipSync(text, { level: 9 }) },
    { coding: "br", body: brotliCompressSync(text, brotli) },
  ].filter(({ body }) => body.byteLength <= WIRE_BYTES);
}
