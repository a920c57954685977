/** The requests of `--write`: one token without scopes is created, looked at and revoked. */

import { outcomeOfAnswer } from "../core/call/outcome.ts";
import { fieldsOf } from "../core/checks/values.ts";
import { encodeSegment } from "../core/wire/path.ts";
import { idOf, isOfService, isSuccess } from "./reading.ts";
import { replyOr, type Step, step } from "./step.ts";
import { PROJECTS } from "./steps.ts";
import { type Answer, type NotAsked, notAsked, type PlannedRequest } from "./wire.ts";

/** The name of the token, by which a person finds it in the account settings. */
export const TOKEN_NAME = "project-automation-doctor";

/** Without `expires_in_days`, to see the default lifetime. */
export const CREATED: Step = step({
  after: { projects: PROJECTS },
  writes: true,
  reveals: true,
  request: ({ projects }) =>
    replyOr(projects, () => ({ method: "POST", path: "/me/tokens", json: { name: TOKEN_NAME, scopes: [] } })),
});

/** `true` for an answer to the creation after which the token may be there, by the rule of the client for its own writes. */
export function mayExist(created: Answer): boolean {
  if (created.kind === "response") {
    return outcomeOfAnswer({ status: created.status, isFromService: isOfService(created) }) !== "rejected";
  }
  return created.kind === "failure" && created.isSent;
}

/** Not in the API documentation. Asked when there is a new token to be seen in it, if there is to be one. */
export const TOKENS: Step = step({
  after: { projects: PROJECTS, created: CREATED },
  request: ({ projects }) => replyOr(projects, () => ({ path: "/me/tokens" })),
});

function aboutCreated(created: Answer, build: (path: string) => PlannedRequest): PlannedRequest | NotAsked {
  return replyOr(created, (reply) => {
    const id = idOf(reply.json);
    if (!isSuccess(reply) || id === undefined) return notAsked("no token with an id was created");
    return build(`/me/tokens/${encodeSegment(id, "the id of the token")}`);
  });
}

/** Not in the API documentation either. */
const TOKEN: Step = step({
  after: { created: CREATED },
  writes: true,
  request: ({ created }) => aboutCreated(created, (path) => ({ path, shown: "/me/tokens/{id}" })),
});

function withCreated(created: Answer): PlannedRequest | NotAsked {
  return replyOr(created, ({ json }) => {
    const { plaintext } = fieldsOf(json);
    if (typeof plaintext !== "string") return notAsked("no token was created");
    return { path: "/projects", credential: { plaintext } };
  });
}

export const USED: Step = step({
  after: { created: CREATED },
  writes: true,
  request: ({ created }) => withCreated(created),
});

function revocation(created: Answer): PlannedRequest | NotAsked {
  return aboutCreated(created, (path) => ({ method: "DELETE", path, shown: "/me/tokens/{id}" }));
}

export const REVOKED: Step = step({
  after: { created: CREATED, tokens: TOKENS, token: TOKEN, used: USED },
  writes: true,
  cleansUp: true,
  request: ({ created }) => revocation(created),
});

/** A step that makes sense only behind a successful revocation. */
function afterRevocation(build: (created: Answer) => PlannedRequest | NotAsked): Step {
  return step({
    after: { created: CREATED, revoked: REVOKED },
    writes: true,
    request: ({ created, revoked }) =>
      replyOr(revoked, (reply) =>
        isSuccess(reply) && isOfService(reply) ? build(created) : notAsked("the token was not revoked"),
      ),
  });
}

export const USED_REVOKED: Step = afterRevocation((created) => withCreated(created));
export const REVOKED_AGAIN: Step = afterRevocation((created) => revocation(created));
