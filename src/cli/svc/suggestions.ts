/** The name that a word was probably meant to be; null when none is near. */
export function findClosestName(word: string, names: readonly string[]): string | null {
  const ranked = names
    .map((name) => ({ name, distance: computeEditDistance(word.toLowerCase(), name) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  if (best === undefined) return null;
  const isBeginning = word.length >= 2 && best.name.startsWith(word);
  return isBeginning || best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : null;
}

/** Letters to insert, delete, replace or swap (optimal string alignment). */
function computeEditDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(row[j - 1] + 1, rows[i - 1][j] + 1, rows[i - 1][j - 1] + same);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
