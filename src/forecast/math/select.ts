/**
 * Reorders the values from `from` on until the one at `index` is where sorting them would put it, with none larger before it and none smaller
 * after it (Hoare, Algorithm 65: FIND, 1961). Without NaN. Does nothing beyond the last value.
 */
export function selectInPlace(values: Float64Array, index: number, from = 0): void {
  let [left, right] = [from, values.length - 1];
  while (left < right && index <= right) {
    const pivot = values[index];
    let [low, high] = [left, right];
    while (low <= high) {
      while (values[low] < pivot) low++;
      while (values[high] > pivot) high--;
      if (low > high) break;
      const moved = values[low];
      values[low++] = values[high];
      values[high--] = moved;
    }
    if (high < index) left = low;
    if (low > index) right = high;
  }
}
