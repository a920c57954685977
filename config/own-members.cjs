/** For typedoc: leaves out of a class what it inherits, which stands with the class that declares it. */
const { Converter, ReflectionKind } = require("typedoc");

/** After typedoc knows what is inherited, and before it sorts members into groups. */
const BEFORE_GROUPS = -50;

/** @param {import("typedoc").Application} app */
exports.load = (app) => {
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember)) {
        if (member.inheritedFrom !== undefined) project.removeReflection(member);
      }
    },
    BEFORE_GROUPS,
  );
};
