import { OracleError } from '../../platform/errors.ts';

export const LEVELS = ['ok', 'warn', 'fail', 'skipped'] as const;
export type Level = (typeof LEVELS)[number];

/** One observation of a check. */
export interface Finding {
  level: Level;
  /** A sentence without a full stop. Contains no secret. */
  detail: string;
  /** What the operator does about it; null for `ok`. */
  action: string | null;
  /** Cannot be repaired once the record has begun: the first start on a real chain is refused. */
  isPermanent: boolean;
}

interface Advice {
  action?: string;
  isPermanent?: boolean;
}

export const ok = (detail: string): Finding => ({ level: 'ok', detail, action: null, isPermanent: false });
export const skipped = (detail: string): Finding => ({ level: 'skipped', detail, action: null, isPermanent: false });
export const warn = (detail: string, action: string): Finding => ({ level: 'warn', detail, action, isPermanent: false });
export const fail = (detail: string, { action, isPermanent = false }: Advice = {}): Finding => ({
  level: 'fail',
  detail,
  action: action ?? null,
  isPermanent,
});

/** A finding of an error; of an unknown one only the kind is shown, since libraries quote URLs with keys. */
export function toFinding(error: unknown, advice: Advice = {}): Finding {
  if (!(error instanceof OracleError)) return fail(`it cannot be examined: ${describeKind(error)}`, advice);
  return fail(error.message, { action: error.suggestedAction, ...advice });
}

function describeKind(error: unknown): string {
  const { name = 'Error', code, codeName = code } = Object(error) as { name?: string; code?: unknown; codeName?: unknown };
  return codeName === undefined ? name : `${name} ${String(codeName)}`;
}

/** The findings of work that fails as a whole. */
export async function orFinding(work: () => Promise<Finding | Finding[]>, advice: Advice = {}): Promise<Finding[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    return [toFinding(error, advice)];
  }
}
