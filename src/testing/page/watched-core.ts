import type { Core, OutgoingResponse } from "../exchange.ts";
import type { LoggingCore, RecordedRequest } from "../request-log.ts";

/** Sees each request that is in the log. */
export interface Watcher {
  /** Is called when the service has decided on a request. Returns what is to be called once its response has ended. */
  readonly arrived: (request: RecordedRequest, response: OutgoingResponse) => () => void;
}

/** A core that tells a watcher what it handles. */
export function watchedCore(core: LoggingCore, watcher: Watcher): Core {
  return {
    refuse: (refusal) => core.refuse(refusal),
    handle(incoming) {
      const outgoing = core.handle(incoming);
      const { entry } = outgoing;
      if (entry === undefined) return outgoing;
      const end = watcher.arrived(entry, outgoing);
      return {
        ...outgoing,
        settle: (ending) => {
          const isFirst = entry.outcome === "pending";
          outgoing.settle(ending);
          if (isFirst) end();
        },
      };
    },
  };
}
