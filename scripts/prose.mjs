/**
 * How readable the prose of a document is, and which of its sentences a writer has to split. A cell of a table is a sentence, or
 * several. Blocks of code, heads of tables, headings, images and HTML are no prose; a piece of code within a sentence counts as one word.
 *
 * Usage: node scripts/prose.mjs FILE…
 */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The most that a page may have. */
export const LIMITS = {
  wordsPerSentence: 16,
  /** A sentence of more words is long. */
  longSentence: 25,
  longSentencesPercent: 8,
  relativeWordsPercent: 2,
  relativeWordsInSentence: 2,
};

/** Words of this house alone, each with the word that a reader knows. */
export const OWN_WORDS = {
  contract: "API documentation",
  walk: "iteration, list",
  drift: "an unexpected record",
  fleet: "several processes",
  probe: "the first request, a question",
  caller: "you, your program",
};
const OWN_WORD = new RegExp(`\\b(${Object.keys(OWN_WORDS).join("|")})s?\\b`, "gi");

const RELATIVE_WORD = /\b(?:that|which|who|whose|whom|what|whatever)\b/gi;
const NOT_PROSE_LINE = /^\s*(?:#|<|!\[|\[!)/;
const TABLE_HEAD = /^\|.*\n\|[-:| ]+\|$/gm;
const CELL_END = /(?<!\\)\|/;
const LIST_ITEM = /\s*(?:[-*+]|\d+\.)\s/;
/** A full stop before a capital, a quote, a bracket or code; or a colon before a capital. */
const SENTENCE_END = /(?<=[.!?])\s+(?=[A-Z"“(]|code)|(?<=:)\s+(?=[A-Z])/;

/** The sentences of a document in Markdown; scraps of one or two words are none, nor are lists of code alone. */
export function sentencesOf(markdown) {
  return proseOf(markdown)
    .split(new RegExp(`\\n\\s*\\n|\\n(?=${LIST_ITEM.source})`))
    .map((block) => block.replace(/\s+/g, " ").replace(/\b(e\.g|i\.e|etc|vs)\./g, "$1"))
    .flatMap((block) => block.split(SENTENCE_END))
    .map((sentence) => sentence.replace(new RegExp(`^${LIST_ITEM.source}+`), "").trim())
    .filter((sentence) => sentence.split(/\s+/).length >= 3 && /\w/.test(sentence.replaceAll("code", "")));
}

/** What is counted of a document, and what of it is over a limit, in words. */
export function readabilityOf(markdown) {
  const sentences = sentencesOf(markdown);
  const words = sum(sentences.map(wordsIn));
  const long = sentences.filter((sentence) => wordsIn(sentence) > LIMITS.longSentence);
  const tangled = sentences.filter((sentence) => relativeWordsIn(sentence) > LIMITS.relativeWordsInSentence);
  const figures = {
    words,
    wordsPerSentence: words / (sentences.length || 1),
    longSentencesPercent: (100 * long.length) / (sentences.length || 1),
    relativeWordsPercent: (100 * sum(sentences.map(relativeWordsIn))) / (words || 1),
    tangledSentences: tangled.length,
  };
  const problems = [];
  const hold = (figure, most, unit) => {
    if (figure > most) problems.push(`${figure.toFixed(1)} ${unit}, more than ${most}`);
  };
  hold(figures.wordsPerSentence, LIMITS.wordsPerSentence, "words a sentence");
  hold(
    figures.longSentencesPercent,
    LIMITS.longSentencesPercent,
    `% of sentences with more than ${LIMITS.longSentence} words`,
  );
  hold(figures.relativeWordsPercent, LIMITS.relativeWordsPercent, "relative words (that, which, what …) per 100 words");
  for (const sentence of sentences) {
    for (const [word, own = ""] of sentence.matchAll(OWN_WORD))
      problems.push(`"${word}" is our own word (${OWN_WORDS[own.toLowerCase()]}): ${sentence.slice(0, 160)}`);
  }
  for (const sentence of tangled) problems.push(`three relative words in one sentence: ${sentence.slice(0, 160)}`);
  return { figures, problems, long, tangled };
}

/** The first words of the docstrings and comments of a program that name no thing: a reader has to read on to learn their subject. */
export function vagueCommentsOf(program) {
  return [
    ...program.matchAll(/(?:\/\*\*[\s*]*|^\s*\/\/ )((?:What|How|That|Those|Whether|Who|One that)\b[^\n]{0,60})/gm),
  ].map(([, start]) => start);
}

function proseOf(markdown) {
  return markdown
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replace(/```[\s\S]*?```/g, "\n")
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(TABLE_HEAD, "")
    .split("\n")
    .map((line) => (NOT_PROSE_LINE.test(line) ? "" : line))
    .map((line) => (line.startsWith("|") ? line.split(CELL_END).join("\n\n") : line))
    .join("\n")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/`[^`]*`/g, "code")
    .replace(/https?:\/\/\S+/g, "link")
    .replace(/[*_>]/g, "");
}

function wordsIn(sentence) {
  return sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

/** A question asks with these words. */
function relativeWordsIn(sentence) {
  return sentence.endsWith("?") ? 0 : (sentence.match(RELATIVE_WORD) ?? []).length;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const file of process.argv.slice(2)) print(file);
}

function print(file) {
  const { figures, problems, long } = readabilityOf(readFileSync(file, "utf8"));
  console.log(`${problems.length === 0 ? "good" : "over"}  ${file}`);
  for (const [name, value] of Object.entries(figures)) console.log(`        ${name}: ${Number(value.toFixed(1))}`);
  for (const problem of problems) console.log(`    ${problem}`);
  if (problems.length > 0) for (const sentence of long) console.log(`    long: ${sentence.slice(0, 160)}`);
}
