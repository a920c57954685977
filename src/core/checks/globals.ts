/** The problem of an environment without the globals that `user` needs; `undefined` if it has them all. jest's jsdom hides some. */
export function problemOfEnvironment(user: string, ...names: readonly string[]): string | undefined {
  const missing = names.filter((name) => (globalThis as Readonly<Record<string, unknown>>)[name] === undefined); // any name can be asked for
  if (missing.length === 0) return undefined;
  const instead = 'with jest, use testEnvironment "jest-fixed-jsdom" or "node"';
  return `${user} needs ${missing.join(", ")}: the environment lacks them; ${instead}`;
}

/** The value of this name that all copies of the package in a process share. It is made when it is first needed. */
export function shared<Value>(name: string, make: () => Value): Value {
  const values = globalThis as { [key: symbol]: Value | undefined }; // the name says what it is
  const key = Symbol.for(`project-automation.${name}`); // a registered symbol is shared by all copies
  values[key] ??= make();
  return values[key];
}
