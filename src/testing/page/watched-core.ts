import type { Core, OutgoingResponse } from "../exchange.ts";
import type { LoggingCore, RecordedRequest } from "../request-log.ts";

/** Sees each request that is in the log: once when the service has decided on it, once when its response has ended. */
export interface Watcher {
  readonly arrived: (request: RecordedRequest) => void;
  readonly ended: (request: RecordedRequest, response: OutgoingResponse) => void;
}

/** A core that tells a watcher what it handles. */
export function watchedCore(core: LoggingCore, watcher: Watcher): Core {
  return {
    refuse: (refusal) => core.refuse(refusal),
    handle(incoming) {
      const outgoing = core.handle(incoming);
      const { entry } = outgoing;
      if (entry === undefined) return outgoing;
      watcher.arrived(entry);
      return {
        ...outgoing,
        settle: (ending) => {
          const isFirst = entry.outcome === "pending";
          outgoing.settle(ending);
          if (isFirst) watcher.ended(entry, outgoing);
        },
      };
    },
  };
}
