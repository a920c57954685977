import { isWrite } from "../../core/wire/method.ts";
import type { RecordedRequest } from "../request-log.ts";
import type { ListeningEmulator } from "./running-emulator.ts";

export interface LetterEffects {
  readonly running: ListeningEmulator;
  /** Runs `change`, and lets the faults that it adds go before those of the flags. */
  readonly beforeFlags: <Result>(change: () => Result) => Result;
  readonly openPage: () => void;
  readonly quit: () => void;
}

interface Letter {
  readonly about: string;
  /** Returns what it did, as a sentence for the user. */
  readonly act: (effects: LetterEffects) => string;
}

const writes = ({ method }: RecordedRequest): boolean => isWrite(method);

const LETTERS: Readonly<Record<string, Letter>> = {
  o: {
    about: "open the page",
    act: ({ running, openPage }) => {
      openPage();
      return `the page opens in your browser: ${running.page}`;
    },
  },
  f: {
    about: "lose the response of the next write",
    act: ({ running }) => {
      running.emulator.fault({ match: writes, drop: "after" });
      return "the next write is carried out, and its response is lost";
    },
  },
  d: {
    about: "drop the next request before it is carried out",
    act: ({ running }) => {
      running.emulator.fault({ drop: "before" });
      return "the next request is dropped before it is carried out";
    },
  },
  l: {
    about: "respond to the next request with 429",
    act: ({ running }) => {
      running.emulator.fault({ status: 429, headers: { "retry-after": "1" } });
      return "the response to the next request is 429 with Retry-After: 1";
    },
  },
  r: {
    about: "begin a new world",
    act: ({ running }) => {
      running.emulator.reset();
      return "a new world: the projects and sessions of the start, the same token, no issues and no faults";
    },
  },
  q: {
    about: "end the emulator",
    act: ({ quit }) => {
      quit();
      return "the emulator ends";
    },
  },
  h: {
    about: "list the letters",
    act: () => `a letter and Enter:\n${LIST}`,
  },
};

const LIST = Object.entries(LETTERS)
  .map(([letter, { about }]) => `  ${letter}  ${about}`)
  .join("\n");

/** Does what a typed line asks for, and returns the sentence to print; `undefined` for an empty line. */
export function actOnLetter(line: string, effects: LetterEffects): string | undefined {
  const typed = line.trim();
  if (typed === "") return undefined;
  const letter = Object.hasOwn(LETTERS, typed) ? LETTERS[typed] : undefined;
  if (letter === undefined) return `there is no letter ${JSON.stringify(typed.slice(0, 20))}; h lists them`;
  return effects.beforeFlags(() => letter.act(effects));
}
