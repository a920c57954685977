/** Fields may be in quotes, and then hold commas, line breaks and doubled quotes. The first line names the columns. */
export function parseCsv(text: string): Record<string, string>[] {
  const table: string[][] = [[]];
  let end = 0;
  for (const match of `${text}\n`.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n)/gy)) {
    const [field, quoted, plain = "", separator] = match;
    end = match.index + field.length;
    table.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (separator !== ",") table.push([]);
  }
  if (end <= text.length) throw new Error(`row ${table.length - 1} has a quote that does not belong there`);
  const [head = [], ...lines] = table.slice(0, -1).filter((fields) => fields.join("") !== "");
  return lines.map((line, index) => {
    if (line.length !== head.length) throw new Error(`row ${index + 1} has ${line.length} fields, not ${head.length}`);
    return Object.fromEntries(head.map((name, column) => [name, line[column] ?? ""]));
  });
}
