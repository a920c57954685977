import type { PageEvent } from "../events.ts";

const TYPES: readonly PageEvent["type"][] = ["snapshot", "request", "response", "pause", "world", "fault"];
export const AGAIN_MS = 1_000;

/**
 * Follows the stream while the page is seen. A browser allows an origin six connections: a hidden page gives its own back.
 * After an end it connects anew, and begins with a snapshot.
 */
export function follow(onEvent: (event: PageEvent) => void, onState: (isLive: boolean) => void): void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    const own = new EventSource("/_emulator/events");
    source = own;
    for (const type of TYPES) {
      own.addEventListener(type, ({ data }: MessageEvent<string>) => {
        if (type === "snapshot") onState(true);
        onEvent(JSON.parse(data) as PageEvent); // the emulator's own
      });
    }
    own.addEventListener("error", () => {
      onState(false);
      close();
      timer = setTimeout(open, AGAIN_MS);
    });
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  window.addEventListener("pagehide", close);
  if (!document.hidden) open();
}
