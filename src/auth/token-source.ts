import type { CreatedToken } from "../models.ts";

/** What a token provider is told. */
export interface TokenContext {
  /** Aborts when nobody waits for the token any more. */
  signal: AbortSignal;
  /** The token that the service has just answered 401 to: give another one. */
  rejected?: string;
}

/** Gives the token for the next attempt; asked at each, so it should remember what it has. Concurrent calls share one flight. */
export type TokenProvider = (context: TokenContext) => string | Promise<string>;

/** Rotates a token: `POST /me/tokens/{id}/rotate`, sent with that very token. */
export type Rotate = (id: string, token: string) => Promise<CreatedToken>;

/** Something that can be passed as `token` and decides by itself what is sent. */
export interface TokenSourceFactory {
  /** Not for callers: the credential of one client, which gives its own way to rotate. */
  toCredential(rotate: Rotate): TokenSource;
}

/** Something that goes by the current token. */
export interface TokenListener {
  refresh(): void;
}

/** Where the token comes from. One object is shared by all clients made from one another. */
export interface TokenSource {
  /** The token as last known; `""` before a provider was first asked. */
  readonly current: string;
  /** The token to send now. `rejected`: the one this call has just been refused with. */
  read(signal: AbortSignal, rejected: string | undefined): string | Promise<string>;
  /** Whether another token than the rejected one can be had now. */
  canReplace(rejected: string): boolean;
  /** Resolves once no rotation that may replace the rejected token is under way. Never rejects. */
  settled(rejected: string): Promise<void>;
  /** Calls `refresh` whenever `current` changes. */
  subscribe(dependent: TokenListener): void;
}
