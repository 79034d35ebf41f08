/** Whether objects and arrays nest deeper than `levels`. Iterative: no depth overflows the stack. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let layer = [value].filter(isObjectOrArray);
  for (let depth = 0; depth < levels && layer.length > 0; depth++)
    layer = layer.flatMap((one) => Object.values(one)).filter(isObjectOrArray);
  return layer.length > 0;
}

function isObjectOrArray(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
