/** A set of objects that all copies of this package in a process share. It is made when it is first needed. */
export function sharedSet(name: string): WeakSet<object> {
  const shared = globalThis as { [key: symbol]: WeakSet<object> | undefined }; // the name says what it is
  const key = Symbol.for(`project-automation.${name}`);
  shared[key] ??= new WeakSet();
  return shared[key];
}
