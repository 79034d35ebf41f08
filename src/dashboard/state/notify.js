/**
 * Notifies each listener; an error in one is reported and does not affect the others.
 * @template T @param {Iterable<(what: T) => void>} listeners @param {T} what
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
