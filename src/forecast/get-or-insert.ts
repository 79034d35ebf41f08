/** The value of a key; one without is computed and kept. */
export function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, compute: () => Value): Value {
  if (!map.has(key)) map.set(key, compute());
  return map.get(key)!;
}
