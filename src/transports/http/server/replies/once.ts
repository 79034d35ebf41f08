/** Calls a function the first time only, and returns that result from then on; a call that throws is repeated. */
export function once<T extends object>(build: () => T): () => T {
  let built: T | undefined;
  return () => {
    built ??= build();
    return built;
  };
}
