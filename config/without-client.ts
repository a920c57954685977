// The code that a program may use without a client: the build makes a file of its own of it, so that a bundler can leave out
// the client. Each name stands for its file.
export { path } from "../src/client/call/path.ts";
export { isAutomationError } from "../src/client/errors/classes.ts";
export { SCOPES } from "../src/client/scopes.ts";
export { VERSION } from "../src/client/version.ts";
