import * as z from "zod/mini";

/** Whether a value is at a glance what a schema wants. If not, zod says whether it is after all, and what is wrong. */
export type Glance = (value: unknown) => boolean;

/**
 * The quick way to the usual answer: zod makes a copy and a record of everything it looks at, and takes ten times as long.
 * What a schema is made of is zod's business, so only what needs no knowledge of it is done here.
 */
export function glanceOf(schema: z.core.$ZodType): Glance {
  const { _zod: made } = schema as z.core.$ZodTypes; // every schema is one of these
  const { def } = made;
  if (def.checks?.length) return (value) => z.safeParse(schema, value).success;
  switch (def.type) {
    case "unknown":
      return () => true;
    case "string":
      return (value) => typeof value === "string";
    case "array": {
      const element = glanceOf(def.element);
      // `every` passes over holes.
      return (value) => Array.isArray(value) && Array.from<unknown>(value).every(element);
    }
    case "object": {
      const members = Object.entries(def.shape).map(([key, member]) => ({ key, fits: glanceOf(member) }));
      return (value) => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
        const record = value as Readonly<Record<string, unknown>>; // any object can be asked for its fields
        for (const { key, fits } of members) if (!(key in record && fits(record[key]))) return false;
        return true;
      };
    }
    default:
      return (value) => z.safeParse(schema, value).success;
  }
}
