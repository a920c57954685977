/** The rotating tokens of this process, which all copies of the client share. */
const TOKENS = Symbol.for("project-automation.rotating-tokens");

/** Lets the client begin as in a new process: where the tokens of before are given anew, none of them was rotated. */
export function forgetTokens(): void {
  Reflect.deleteProperty(globalThis, TOKENS);
}
