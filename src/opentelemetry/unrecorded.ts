import { diag } from "@opentelemetry/api";
import { safely } from "../core/checks/validators.ts";

const UNRECORDED =
  "project-automation/opentelemetry records no spans: no SDK is registered with the copy of @opentelemetry/api that this package loads; look at npm ls @opentelemetry/api";

/**
 * Returns a check that is called with each span of a call. It says once that spans are not recorded, by `warn` and by
 * OpenTelemetry's own diagnostics: an SDK that was registered with another copy of the API makes none.
 */
export function warnsOfUnrecorded(warn: (message: string) => void): (isRecorded: boolean) => void {
  let isDone = false;
  return (isRecorded) => {
    if (isRecorded || isDone) return;
    isDone = true;
    for (const say of [warn, (text: string) => diag.warn(text)]) safely(say)(UNRECORDED);
  };
}
