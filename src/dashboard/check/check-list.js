/**
 * One comparison. `record` is about the position of the row in the record.
 * @typedef {{ about: 'prediction' | 'resolution' | 'record', field: string, what: string, ok: boolean, expected: string, actual: string }}
 * Check
 */

/**
 * A comparison that could not be made. `isDue`: it becomes possible once more is on chain.
 * @typedef {{ what: string, why: string, isDue: boolean }} OpenCheck
 */

/** @typedef {string | number | boolean | null | undefined} PlainValue */

/** @typedef {ReturnType<typeof createCheckList>} CheckList */

/** Collects comparisons in the order in which they are made. @param {Check['about']} about */
export function createCheckList(about) {
  /** @type {Check[]} */
  const checks = [];
  /** @type {OpenCheck[]} */
  const open = [];
  return {
    checks,
    open,
    /**
     * @param {string} field @param {string} what
     * @param {{ expected: PlainValue, actual: PlainValue, ok?: boolean }} comparison `ok` if it is not strict equality
     */
    add(field, what, { expected, actual, ok = expected === actual }) {
      checks.push({ about, field, what, ok, expected: formatValue(expected), actual: formatValue(actual) });
      return ok;
    },
    /** Adds a comparison whose evidence is unavailable. @param {string} what @param {string} why */
    leave(what, why) {
      open.push({ what, why, isDue: false });
    },
    /** Adds a comparison that has to wait for later blocks. @param {string} what @param {string} why */
    postpone(what, why) {
      open.push({ what, why, isDue: true });
    },
  };
}

/** @param {PlainValue} value */
function formatValue(value) {
  return value === null || value === undefined ? 'nothing' : String(value).slice(0, 80);
}

/** ISO 8601; a number that is not a valid time is printed as it is. @param {number} seconds */
export function formatIsoSeconds(seconds) {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString().replace('.000Z', 'Z');
}

/** @param {string} iso */
export function parseIsoSeconds(iso) {
  return Date.parse(iso) / 1_000;
}
