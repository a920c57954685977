/** Where documents lead: their relative links with anchors, links to files of the repository, and paths in backticks. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const REPOSITORY = "https://github.com/project-automation/project-automation-js";

/** A document without its blocks of code. */
export const proseOf = (text) => text.replaceAll(/^```.*?^```/gms, "");

/** What leads nowhere within `folder`: of each document, a relative link or its anchor. */
export function deadLinks(folder, documents) {
  return documents.flatMap((document) => {
    const dead = (target) => {
      const [path, anchor] = target.split("#");
      const file = path === "" ? join(folder, document) : join(folder, dirname(document), path);
      if (!existsSync(file)) return `link to ${target}`;
      return anchor === undefined || isAnchorOf(file, anchor) ? undefined : `anchor of ${target}`;
    };
    return linksOf(folder, document)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map(dead)
      .filter((problem) => problem !== undefined)
      .map((problem) => `${document}: ${problem}`);
  });
}

/** Links to this repository whose file is not in it. */
export function deadRepositoryLinks(folder, documents) {
  return documents.flatMap((document) =>
    linksOf(folder, document)
      .filter((target) => target.startsWith(`${REPOSITORY}/blob/`) || target.startsWith(`${REPOSITORY}/tree/`))
      .filter((target) => {
        const [path, anchor] = target.slice(REPOSITORY.length).split("/").slice(3).join("/").split("#");
        return !existsSync(path) || (anchor !== undefined && !isAnchorOf(path, anchor));
      })
      .map((target) => `${document}: link to ${target}`),
  );
}

/**
 * Paths in backticks that are not in `folder`, of documents and of programs' comments: files by their name, and paths that begin with one of `roots`,
 * the names at the top of the repository.
 */
export function deadPaths(folder, documents, { roots, names, made = [] }) {
  const isThere = (code, document) => {
    const path = code.replace(/:\d+$/, "").replace(/\/$/, "");
    if (!/^[\w.@*{},/-]+$/.test(path)) return true;
    if (!path.includes("/"))
      return (
        !/^[\w.-]+\.(ts|mjs|cjs|md|jsonc?|ya?ml|diff)$/.test(path) || names.has(path) || existsSync(join(folder, path))
      );
    if (made.some((one) => `${path}/`.startsWith(one))) return true;
    const local = path.startsWith("./") || path.startsWith("../");
    if (!local && !roots.has(path.split("/")[0])) return true;
    const from = local ? join(folder, dirname(document), path) : join(folder, path);
    return path.includes("*") ? globSync(from).length > 0 : existsSync(from);
  };
  return documents.flatMap((document) => {
    const text = readFileSync(join(folder, document), "utf8");
    return [...proseOf(text).matchAll(/`([^`\n]+)`/g)]
      .map(([, code]) => code)
      .filter((code) => !isThere(code, document))
      .map((code) => `${document}: \`${code}\``);
  });
}

/** What the documents are looked for by: the names at the top of a folder, and those of all its files. */
export const namesOf = (files) => ({
  roots: new Set(files.map((file) => file.split("/")[0])),
  names: new Set(files.map((file) => basename(file))),
});

function linksOf(folder, document) {
  const prose = proseOf(readFileSync(join(folder, document), "utf8"));
  return [...prose.matchAll(/(?:\]\(|<a href=")([^)"\s]+)/g)].map(([, target]) => target);
}

/** A heading of a document, or a line of a program. */
function isAnchorOf(file, anchor) {
  const [, line] = /^L(\d+)$/.exec(anchor) ?? [];
  if (line === undefined) return anchorsOf(file).has(anchor);
  return Number(line) <= readFileSync(file, "utf8").split("\n").length;
}

/** The anchors that GitHub makes of a document's headings, and those that it sets itself. */
function anchorsOf(file) {
  if (statSync(file).isDirectory()) return new Set();
  const seen = new Map();
  const prose = proseOf(readFileSync(file, "utf8"));
  const set = [...prose.matchAll(/<a id="([^"]+)"/g)].map(([, id]) => id);
  const anchors = [...prose.matchAll(/^#{1,6} +(.*)$/gm)].map(([, heading]) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set([...anchors, ...set]);
}
