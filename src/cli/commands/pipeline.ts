import { assembleService } from '../../app/assemble-service.ts';
import { runProcess } from '../../app/process.ts';
import type { StartupContext } from '../../app/process-context.ts';
import type { Service } from '../../app/service.ts';
import { type Day, formatDay, parseDay, toDay } from '../../forecast/day.ts';
import { catchUp } from '../../pipeline/catch-up.ts';
import { createLiveContext, type StepContext } from '../../pipeline/deps.ts';
import { SINGLE_DAY_STEPS } from '../../pipeline/run-manually.ts';
import { getStepDueMs } from '../../pipeline/schedule/step-times.ts';
import { catchUpSelfTests } from '../../pipeline/self-test/catch-up.ts';
import { runStep, STEP_NAMES, type StepReport } from '../../pipeline/step-registry.ts';
import type { StepName } from '../../pipeline/step-run-store.ts';
import { isOracleError, OracleError } from '../../platform/errors.ts';
import { createProgressBar } from '../../platform/progress-bar.ts';

const CLOCK_STEPS = STEP_NAMES.filter((step) => !SINGLE_DAY_STEPS.includes(step));

const USAGE = `Usage: npm run pipeline -- <what> [first day] [last day] [--early]

  catch-up                 everything that is due and not done
  signal, wager, brief     for one day (today unless told), or for each day of a range (YYYY-MM-DD)
  ${CLOCK_STEPS.join(', ')}
                           what is due now

  --early                  lets signal make today's forecast before 21:35 UTC; it is made for good

In an empty folder the record begins with today; npm start replays past days into it first.
What is done stays done: running a step again changes nothing. Nothing is dated back: a day whose window has opened enters
the record as missed. Works beside a running service with the same FEEDS and DATA_DIR, or alone.
Ends with 0 when everything was done, 3 when something has to wait, 1 on an error.
`;

const EXIT_FAILED = 1;
const EXIT_WAITING = 3;

interface PipelineCommand {
  step: StepName | 'catch-up';
  from: Day;
  to: Day;
  early: boolean;
}

/** Runs steps by hand: what `npm run pipeline` starts. */
export async function runPipelineCommand(args: string[]): Promise<void> {
  if (args.length === 0 || args[0] === '--help' || args[0] === 'help') {
    process.stdout.write(USAGE);
    process.exit(args.length === 0 ? 2 : 0);
  }
  await runProcess(async (context) => {
    const command = parsePipelineCommand(args, toDay(Date.now()));
    const service = await attachOrAssemble(context);
    const { source } = service.pipeline.market;
    process.stderr.write(`Market data: ${source}${service.feedReason === null ? '' : ` (${service.feedReason})`}\n`);
    // Beside a running service nothing is due; alone, nobody else has asked.
    await service.live?.collectPrices();
    await service.live?.collect();
    const reports = await runPipelineSteps(service, command);
    for (const report of reports) process.stdout.write(formatReportLine(report));
    await context.shutdown.stop('done');
    process.exit(getExitCode(reports));
  });
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parsePipelineCommand(args: string[], today: Day): PipelineCommand {
  const early = args.includes('--early');
  const [step, first, last, ...rest] = args.filter((word) => word !== '--early');
  if (step !== 'catch-up' && !STEP_NAMES.includes(step as StepName)) {
    throw usageError('step', `"${step}" is none of catch-up, ${STEP_NAMES.join(', ')}`);
  }
  if (rest.length > 0) throw usageError('arguments', `"${rest[0]}" is one argument too many`);
  if (first !== undefined && !SINGLE_DAY_STEPS.includes(step))
    throw usageError('first day', `${step} takes no day: it does what is due now`);
  if (early && step !== 'signal') throw usageError('--early', 'goes with signal only');
  const from = first === undefined ? today : parseDay(first);
  const to = last === undefined ? from : parseDay(last);
  if (to < from) throw usageError('last day', `${formatDay(to)} lies before ${formatDay(from)}`);
  return { step: step as PipelineCommand['step'], from, to, early };
}

function usageError(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run pipeline -- --help' });
}

/** Beside a service that runs on the same folder, its database and chain are used; otherwise they are started for this command. */
export async function attachOrAssemble(context: StartupContext): Promise<Service> {
  try {
    return await assembleService(context, null);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return assembleService({ ...context, config: { ...context.config, chainMode: 'attached' } }, null);
  }
}

/** Runs the command; a range ends with the first day that has to wait. */
async function runPipelineSteps({ pipeline }: Service, { step, from, to, early }: PipelineCommand): Promise<StepReport[]> {
  const stepContext = createLiveContext(pipeline, new Date());
  if (step === 'catch-up') return [...(await catchUp(pipeline, stepContext)), ...(await catchUpSelfTests(pipeline, stepContext))];
  const bar = createProgressBar(step);
  const reports: StepReport[] = [];
  for (let day = from; day <= to; day++) {
    const outcome = rejectTooEarly(step, day, early, stepContext) ?? (await runStep(pipeline, step, day, stepContext));
    reports.push({ step, day, outcome });
    if (to > from) bar.update(day - from + 1, to - from + 1, formatDay(day));
    if (!('done' in outcome)) break;
  }
  bar.end();
  return reports;
}

/** A forecast made by hand before its time would be the day's for good. */
function rejectTooEarly(step: StepName, day: Day, early: boolean, { now }: StepContext): { waiting: string } | null {
  const dueMs = getStepDueMs('signal', day);
  if (step !== 'signal' || early || now.getTime() >= dueMs) return null;
  return { waiting: `due at ${new Date(dueMs).toISOString()}; --early makes it now` };
}

function getExitCode(reports: StepReport[]): number {
  if (reports.some(({ outcome }) => 'failed' in outcome)) return EXIT_FAILED;
  return reports.some(({ outcome }) => 'waiting' in outcome) ? EXIT_WAITING : 0;
}

function formatReportLine({ step, day, outcome }: StepReport): string {
  const args = Object.entries(outcome).map(([kind, text]) => (kind === 'done' ? text : `${kind}: ${text}`));
  return `${step} ${formatDay(day)}: ${args.join()}\n`;
}
