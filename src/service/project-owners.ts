import { invalid } from "../core/checks/invalid-input.ts";
import { isObject } from "../core/checks/values.ts";
import type { Service } from "../core/wire/service.ts";

/** The service of this process's first client, until a client has another one. */
let only: Service | undefined;
let areSeveral = false;

/** The service of each project that a list of it returned, while the process has clients of several. */
const owners = new WeakMap<object, Service>();

/** A client begins to use a service. */
export function meetService(service: Service): void {
  only ??= service;
  areSeveral ||= service !== only;
}

/** A list of a service returned these projects. It costs time with each page, so nothing is kept for a single service. */
export function ownProjects(projects: readonly unknown[], service: Service): void {
  if (areSeveral) for (const project of projects) if (isObject(project)) owners.set(project, service);
}

/** Refuses the project of another service: its id may be that of another project here. */
export function refuseForeign(project: object, service: Service): void {
  const owner = owners.get(project) ?? service;
  if (owner === service) return;
  invalid(`project is one of ${owner}, not of ${service}: pass its name or its id`);
}
