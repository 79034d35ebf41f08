import type { Config } from '../../platform/config/settings.ts';
import type { Check, DoctorDeps, DoctorTarget } from './check.ts';
import { type Finding, fail, LEVELS, type Level, skipped, toFinding } from './finding.ts';
import { CHECKS } from './registry.ts';

export interface CheckReport extends Pick<Check, 'id' | 'title'> {
  findings: Finding[];
}

export interface DoctorReport {
  checkedAt: string;
  /** `real` or a local chain. */
  chainMode: Config['chainMode'];
  counts: Record<Level, number>;
  checks: CheckReport[];
}

const CHECK_TIMEOUT_MS = 20_000;

/** Runs all checks in parallel; one that hangs is a failure of its own. */
export async function runDoctor(deps: DoctorDeps, checks: readonly Check[] = CHECKS): Promise<DoctorReport> {
  const reports = await Promise.all(checks.map((check) => runCheck(check, deps)));
  const findings = reports.flatMap((report) => report.findings);
  const counts = Object.fromEntries(LEVELS.map((level) => [level, findings.filter((one) => one.level === level).length]));
  return {
    checkedAt: deps.now().toISOString(),
    chainMode: deps.config.chainMode,
    counts: counts as Record<Level, number>,
    checks: reports,
  };
}

async function runCheck(check: Check, deps: DoctorDeps): Promise<CheckReport> {
  const { id, title, needs, needsTarget, uses = [], run } = check;
  const wrong = needs.filter((name) => deps.problems.some((problem) => problem.name === name));
  if (wrong.length > 0) return { id, title, findings: [skipped(`needs ${wrong.join(', ')}`)] };
  const { target } = deps;
  if (needsTarget && typeof target === 'string') return { id, title, findings: [skipped(target)] };
  const unanswered = await Promise.all(
    uses.map((name) =>
      deps[name]().then(
        () => [],
        () => [name],
      ),
    ),
  );
  if (unanswered.flat().length > 0) return { id, title, findings: [skipped(`the ${unanswered.flat().join(' and ')} cannot be used`)] };
  const timedOut = fail(`no answer within ${CHECK_TIMEOUT_MS / 1_000} s`, { action: 'Run it again; look at the network of this machine.' });
  const work = run(deps, target as DoctorTarget).catch((error: unknown) => [toFinding(error)]);
  return { id, title, findings: await withTimeout(work, [timedOut]) };
}

async function withTimeout<T>(work: Promise<T>, otherwise: T): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(otherwise), CHECK_TIMEOUT_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
