import type { PageExchange, PageMessage } from "../events.ts";
import { kindOf } from "../tally.ts";
import { curlLine } from "./curl.ts";
import { make, onPress } from "./elements.ts";
import { markOf, pathOf, prettyOf, statusOf, timeOf, tookOf, wordsOfFate } from "./words.ts";

/** On Windows the shell is another one: nothing is offered there rather than something wrong. */
const HAS_SHELL = !/windows/i.test(navigator.userAgent);

export function showDetail(panel: HTMLElement, exchange: PageExchange | undefined, baseUrl: string): void {
  const close = make("button", "", "Close");
  close.id = "detail-close";
  if (exchange === undefined) {
    panel.replaceChildren(make("div", "bar two", make("h2", "", "It is no longer shown"), close));
    return;
  }
  const { request, sent, response, missing = "" } = exchange;
  const { id, method, at, token, operation, why } = request;
  const path = pathOf(request, baseUrl);
  const facts = make("dl", "");
  const tell = (name: string, value: string): void => facts.append(make("dt", "", name), make("dd", "", value));
  tell("id", id);
  tell("status", statusOf(request));
  tell("time", `${timeOf(at)}${tookOf(request) && `, ${tookOf(request)} ms`}`);
  tell("token", token === undefined ? "none that is known" : `${token.name} (${token.id})`);
  tell("operation", operation ?? "none");
  const line = HAS_SHELL ? curlLine(exchange, baseUrl) : undefined;
  const result = make("span", "result", `${markOf(request)} ${wordsOfFate(request)}`);
  const isMissing = [make("h3", "", "Answered"), make("p", "muted", missing)];
  panel.replaceChildren(
    make("div", "bar two", make("h2", "mono", `${method} ${path}`), close),
    make("p", kindOf(request) ?? "pending", result, why === undefined ? "" : `: ${why}`),
    facts,
    ...messageOf("Sent", sent),
    ...(response === undefined ? isMissing : messageOf("Answered", response)),
    ...(line === undefined ? [] : curlOf(line)),
  );
}

function messageOf(title: string, { headers, body, cut }: PageMessage): readonly Node[] {
  const fields = make("dl", "mono");
  for (const [name, value] of Object.entries(headers)) fields.append(make("dt", "", name), make("dd", "", value));
  const count = Object.keys(headers).length;
  const text = make("pre", "", prettyOf(body));
  text.tabIndex = 0;
  const nodes: Node[] = [make("h3", "", title), body === "" ? make("p", "muted", "No body.") : text];
  if (cut > 0) nodes.push(make("p", "muted", `${cut} more bytes were not kept.`));
  const more = make("details", "", make("summary", "", `${count} header fields, and the raw body`), fields);
  if (body !== "") more.append(make("pre", "", body));
  return [...nodes, more];
}

function curlOf(line: string): readonly Node[] {
  const text = make("pre", "", line);
  text.tabIndex = 0;
  const copy = make("button", "", "Copy as curl");
  onPress(copy, async () => {
    getSelection()?.selectAllChildren(text);
    // Without the right to write, what is selected can be copied by hand.
    const isCopied = await navigator.clipboard?.writeText(line).then(
      () => true,
      () => false,
    );
    copy.textContent = isCopied ? "Copied" : "Selected";
  });
  return [make("h3", "", "As a command"), text, make("p", "", copy)];
}
