/** One comparison. `record` is about the position of the row in the record. */
export interface Check {
  about: 'prediction' | 'resolution' | 'record';
  field: string;
  what: string;
  ok: boolean;
  expected: string;
  actual: string;
}

/** A comparison that could not be made. */
export interface OpenCheck {
  what: string;
  why: string;
  /** It becomes possible once more is on chain. */
  isDue: boolean;
}

type PlainValue = string | number | boolean | null | undefined;

export type CheckList = ReturnType<typeof createCheckList>;

/** Collects comparisons in the order in which they are made. */
export function createCheckList(about: Check['about']) {
  const checks: Check[] = [];
  const open: OpenCheck[] = [];
  return {
    checks,
    open,
    /** @param comparison `ok` if it is not strict equality */
    add(
      field: string,
      what: string,
      { expected, actual, ok = expected === actual }: { expected: PlainValue; actual: PlainValue; ok?: boolean },
    ) {
      checks.push({ about, field, what, ok, expected: formatValue(expected), actual: formatValue(actual) });
      return ok;
    },
    /** Adds a comparison whose evidence is unavailable. */
    leave(what: string, why: string) {
      open.push({ what, why, isDue: false });
    },
    /** Adds a comparison that has to wait for later blocks. */
    postpone(what: string, why: string) {
      open.push({ what, why, isDue: true });
    },
  };
}

function formatValue(value: PlainValue) {
  return value === null || value === undefined ? 'nothing' : String(value).slice(0, 80);
}

/** ISO 8601; a number that is not a valid time is printed as it is. */
export function formatIsoSeconds(seconds: number) {
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString().replace('.000Z', 'Z');
}

export function parseIsoSeconds(iso: string) {
  return Date.parse(iso) / 1_000;
}
