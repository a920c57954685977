/** What a CommonJS file makes, for `copies.mts`, whose client is that of the ESM copy. */
import bulk = require("project-automation/bulk");
import telemetry = require("project-automation/opentelemetry");
import client = require("project-automation");
import testing = require("project-automation/testing");

export const path = client.path`/projects`;
export const limiter = client.memoryRateLimiter();
export const options: client.ClientOptions = telemetry.instrument({ logger: console });
export const journal = bulk.memoryJournal();
export const emulator = testing.createEmulator();
export declare const error: client.AnyAutomationError;
export declare const made: client.Client;
export declare const token: client.RotatingToken;
export declare const list: client.Paginator<client.Project>;
