/**
 * Calls each with what there is to tell. One that fails is reported, and keeps nothing from the others.
 * @template T
 * @param {Iterable<(what: T) => void>} listeners
 * @param {T} what
 */
export function notifyAll(listeners, what) {
  for (const listener of listeners) {
    try {
      listener(what);
    } catch (error) {
      reportError(error);
    }
  }
}
