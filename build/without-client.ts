// The code that a program may use without a client: the build makes a file of its own of it, so that a bundler can leave out
// the client. Each name stands for its file.

export { VERSION } from "../src/client/version.ts";
export { isAutomationError } from "../src/core/errors/classes.ts";
export { path } from "../src/core/wire/path.ts";
export { SCOPES } from "../src/service/scopes.ts";
