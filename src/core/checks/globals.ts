/** The problem of an environment without the globals that `user` needs; `undefined` if it has them all. jest's jsdom hides some. */
export function problemOfEnvironment(user: string, ...names: readonly string[]): string | undefined {
  const missing = names.filter((name) => (globalThis as Readonly<Record<string, unknown>>)[name] === undefined); // any name can be asked for
  if (missing.length === 0) return undefined;
  const instead = 'with jest, use testEnvironment "jest-fixed-jsdom" or "node"';
  return `${user} needs ${missing.join(", ")}: the environment lacks them; ${instead}`;
}
