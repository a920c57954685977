/** For typedoc: leaves out what is inherited from a class or an interface that is documented: it stands there. */
const { Converter, ReflectionKind } = require("typedoc");

/** After typedoc knows what is inherited, and before it sorts members into groups. */
const BEFORE_GROUPS = -50;

/** @param {import("typedoc").Application} app */
exports.load = (app) => {
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => {
      for (const member of project.getReflectionsByKind(ReflectionKind.ClassMember)) {
        const { inheritedFrom, kind } = member;
        // The fields of an interface that has no page stand with those that have one.
        const isHomeless = inheritedFrom?.reflection === undefined && kind === ReflectionKind.Property;
        if (inheritedFrom !== undefined && !isHomeless) project.removeReflection(member);
      }
    },
    BEFORE_GROUPS,
  );
};
