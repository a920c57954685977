/**
 * The name that was probably meant by one that is unknown, or `undefined` if none is close. Case, `_` and `-` do not
 * count; of the rest one character in three may be wrong, missing, added, or swapped with its neighbour.
 */
export function closestName(unknown: string, names: readonly string[]): string | undefined {
  const given = simplify(unknown);
  let closest: string | undefined;
  let least = Math.floor(given.length / 3) + 1;
  for (const name of names) {
    const distance = editDistance(given, simplify(name));
    if (distance >= least) continue;
    least = distance;
    closest = name;
  }
  return closest;
}

function simplify(name: string): string {
  return name.slice(0, 40).toLowerCase().replaceAll(/[_-]/g, "");
}

/** How many characters to change, remove, add or swap with their neighbour (optimal string alignment). */
function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(from.length, to.length);
}
