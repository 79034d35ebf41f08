/** Notifies each listener; an error in one is reported and does not affect the others. */
export function notifyAll<T>(listeners: Iterable<(what: T) => void>, what: T) {
  for (const listener of listeners) {
    try {
      listener(what);
    } catch (error) {
      reportError(error);
    }
  }
}
