/**
 * For typedoc: puts what the main entry point exports on a page for each subject, in the order in which a reader needs the
 * names; shows methods as methods, though they are properties that work detached; takes prose out of examples.
 */
const { Converter, DeclarationReflection, ReflectionGroup, ReflectionKind, ReflectionType } = require("typedoc");

/** The pages of the main entry point, in order. A name stands on the first page that names it. */
const SUBJECTS = {
  client: {
    title: "The client and its methods",
    names: [/^Client$/, /^(Projects|Issues|Sessions|Tokens)$/, /^Paginator$/],
  },
  options: {
    title: "Options",
    names: [
      /^ClientOptions$/,
      /^(Call|Retry)Options$/,
      /^(?!Rotating)\w+Options$/,
      /^ListParams$/,
      /Info$/,
      /^Fetch/,
      /^Headers/,
      /^NoClient$/,
    ],
  },
  errors: {
    title: "Errors",
    names: [
      /^isAutomationError$/,
      /^\w*AutomationError$/,
      /^(ErrorDetails|Outcome)$/,
      /Error$/,
      /^(ApiErrorKind|TimeoutPhase|ValidationIssue)$/,
    ],
  },
  events: {
    title: "Events, logs and instrumentation",
    names: [
      /^(EventListener|ClientEvent)$/,
      /Event$/,
      /^(Durations|Waits|RetryReason)$/,
      /^Log/,
      /^Instrumentation$/,
      /^Call/,
    ],
  },
  models: {
    title: "Records of the service",
    names: [/^(Project|Issue|Session|Token|CreatedToken|Page)$/, /CreateInput$/, /^(IssueType|ProjectRef)$/],
  },
  tokens: {
    title: "Tokens and scopes",
    names: [/^TokenProvider$/, /^TokenContext$/, /^rotatingToken$/, /Token/, /^SCOPES$/, /Scope/],
  },
  "rate-limits": {
    title: "Rate limits",
    names: [/^memoryRateLimiter$/, /^RateLimiter$/, /RateLimit/, /^(Permit|Admission|ReportedPause)$/],
  },
  requests: {
    title: "Requests of your own, and the rest",
    names: [/^SendCustom$/, /^Custom/, /^path$/i, /^(Query|Method|Json)/, /^Standard/, /./],
  },
};

/** Before the comments of methods are read: their parameters, results and examples. */
const BEFORE_COMMENTS = 10_000;
/** After everything has its groups. */
const AFTER_GROUPS = -1_000;

exports.SUBJECTS = SUBJECTS;

/** @param {import("typedoc").Application} app */
exports.load = (app) => {
  const begin = ({ project }) => {
    for (const reflection of Object.values(project.reflections)) separateProse(reflection);
    split(project);
    for (const { children = [] } of project.getChildByName("client")?.children ?? []) children.forEach(makeMethod);
  };
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, begin, BEFORE_COMMENTS);
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => order(project), AFTER_GROUPS);
};

/** An example may begin with a line that ends with a colon and says what it shows. */
function separateProse({ comment, signatures = [] }) {
  for (const { blockTags = [] } of [comment, ...signatures.map((one) => one.comment)].filter(Boolean)) {
    for (const tag of blockTags.filter((one) => one.tag === "@example")) {
      const [first, ...rest] = tag.content;
      const [, fence, line, code] = /^(```\w*\n)([A-Z][^\n]*:)\n(.*)$/s.exec(first?.text ?? "") ?? [];
      if (code === undefined) continue;
      tag.content = [{ kind: "text", text: `${line}\n\n` }, { kind: "code", text: fence + code }, ...rest];
    }
  }
}

/** Makes a method of a property that is a function, where it is public. */
function makeMethod(member) {
  const { name, type, comment } = member;
  if (name.startsWith("#") || !(type instanceof ReflectionType) || type.declaration.signatures === undefined) return;
  member.kind = ReflectionKind.Method;
  member.signatures = type.declaration.signatures;
  for (const signature of member.signatures) {
    signature.parent = member;
    signature.name = name;
    signature.comment = comment?.clone();
  }
  member.comment = undefined;
  member.type = undefined;
}

/** Moves what the main entry point exports to a module for each subject. */
function split(project) {
  for (const entry of project.children ?? []) entry.name = entry.name.replace(/^(?:client|service)\//, "");
  const main = project.getChildByName("client");
  let left = main.children ?? [];
  for (const [subject, { names }] of Object.entries(SUBJECTS)) {
    const page = new DeclarationReflection(subject, ReflectionKind.Module, project);
    project.registerReflection(page, undefined, undefined);
    page.children = left.filter((one) => placeOf(one, names) >= 0);
    for (const one of page.children) one.parent = page;
    left = left.filter((one) => !page.children.includes(one));
    project.addChild(page);
  }
  main.children = [];
  project.removeReflection(main);
}

/** Lists the names of a subject in its order. */
function order(project) {
  for (const page of project.children ?? []) {
    const names = SUBJECTS[page.name]?.names;
    if (names === undefined) continue;
    const group = new ReflectionGroup(page.name, page);
    group.children = [...(page.children ?? [])].sort((a, b) => placeOf(a, names) - placeOf(b, names));
    page.groups = [group];
  }
}

function placeOf({ name }, names) {
  return names.findIndex((one) => one.test(name));
}
