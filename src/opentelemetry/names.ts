export const HTTP = {
  method: "http.request.method",
  status: "http.response.status_code",
  resends: "http.request.resend_count",
  address: "server.address",
  port: "server.port",
  scheme: "url.scheme",
  template: "url.template",
  error: "error.type",
} as const;

export const OWN = {
  operation: "project_automation.operation",
  attempts: "project_automation.attempts",
  outcome: "project_automation.outcome",
  waitedMs: "project_automation.waited_ms",
  pages: "project_automation.walk.pages",
  items: "project_automation.walk.items",
  remaining: "project_automation.rate_limit.remaining",
  stage: "project_automation.wait.stage",
  reason: "project_automation.retry.reason",
  delayMs: "project_automation.delay_ms",
  issues: "project_automation.drift.issues",
} as const;

export const METRICS = {
  request: "http.client.request.duration",
  call: "project_automation.client.call.duration",
  wait: "project_automation.client.wait.duration",
  remaining: "project_automation.client.rate_limit.remaining",
} as const;
