/**
 * One comparison: what it stands for, and what should be there and is. `record` is the row among the others that the service shows.
 * @typedef {{ about: 'prediction' | 'resolution' | 'record', field: string, what: string, ok: boolean, expected: string, actual: string }} Check
 */

/**
 * What cannot be compared now, and why; `isDue` where it will be on chain later, and not where it could not be had.
 * @typedef {{ what: string, why: string, isDue: boolean }} OpenCheck
 */

/** @typedef {string | number | boolean | null | undefined} PlainValue */

/** @typedef {ReturnType<typeof createCheckList>} CheckList */

/**
 * Comparisons of one attestation, in the order in which they are made.
 * @param {Check['about']} about
 */
export function createCheckList(about) {
  /** @type {Check[]} */
  const checks = [];
  /** @type {OpenCheck[]} */
  const open = [];
  return {
    checks,
    open,
    /**
     * @param {string} field
     * @param {string} what
     * @param {{ expected: PlainValue, actual: PlainValue, ok?: boolean }} comparison `ok` where that is not whether both are equal
     */
    add(field, what, { expected, actual, ok = expected === actual }) {
      checks.push({ about, field, what, ok, expected: formatValue(expected), actual: formatValue(actual) });
      return ok;
    },
    /** Of what could not be had. @param {string} what @param {string} why */
    leave(what, why) {
      open.push({ what, why, isDue: false });
    },
    /** Of what is not on chain before the outcome is. @param {string} what @param {string} why */
    postpone(what, why) {
      open.push({ what, why, isDue: true });
    },
  };
}

/** @param {PlainValue} value */
function formatValue(value) {
  return value === null || value === undefined ? 'nothing' : String(value).slice(0, 80);
}

/**
 * ISO 8601 of seconds since 1970; of a number that is no time, the number.
 * @param {number} seconds
 */
export function formatIsoSeconds(seconds) {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString().replace('.000Z', 'Z');
}

/** @param {string} iso */
export function parseIsoSeconds(iso) {
  return Date.parse(iso) / 1_000;
}
