/** What a page and a worker have in common. */
import type { Copy } from "../conformance/bench.ts";
import { type Doors, runProgram, type Settings } from "./run.ts";

/** Anything a browser would complain of, from now on: rejections, errors, breaches of the policy. */
function complaintsOf(scope: EventTarget): string[] {
  const complaints: string[] = [];
  scope.addEventListener("unhandledrejection", (event) => {
    complaints.push(`unhandled rejection: ${String((event as PromiseRejectionEvent).reason)}`);
  });
  scope.addEventListener("error", (event) => complaints.push(`error: ${(event as ErrorEvent).message}`));
  scope.addEventListener("securitypolicyviolation", (event) => {
    const { effectiveDirective, blockedURI, sourceFile } = event as SecurityPolicyViolationEvent;
    complaints.push(`policy: ${effectiveDirective} ${blockedURI} in ${sourceFile}`);
  });
  return complaints;
}

/** The files of the tarball as they are, without any bundler. */
export async function openDoors(): Promise<Doors> {
  const open = (name: string): Promise<unknown> => import(`${location.origin}/package/dist/${name}.js`);
  return {
    pkg: await open("index"),
    testing: await open("testing/index"),
  } as Doors;
}

export async function runInBrowser(settings: Settings, copies: () => Promise<readonly Copy[]>): Promise<void> {
  const complaints = complaintsOf(globalThis);
  await provoke(complaints);
  await runProgram(settings, { open: openDoors, copies, complaints });
}

/** Checks that a violation of the policy is reported, so that no report means no violation. */
async function provoke(complaints: string[]): Promise<void> {
  const reported = new Promise((resolve) => addEventListener("securitypolicyviolation", resolve, { once: true }));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, 5_000);
  });
  try {
    // What the page's policy forbids, and what a library that compiles its schemas tries.
    new Function("");
    complaints.push("the policy allows eval");
  } catch {
    await Promise.race([reported, patience]);
    const breach = complaints.splice(0);
    if (!breach.join().startsWith("policy: script-src eval"))
      complaints.push(`no violation was reported: ${breach.join()}`);
  }
  clearTimeout(timer);
}
