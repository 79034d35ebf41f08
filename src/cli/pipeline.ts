import { assembleService, type Service } from '../app/app.ts';
import type { StartupContext } from '../app/infrastructure.ts';
import { UsageError } from '../errors.ts';
import { type Day, formatDay, parseDay, toDay } from '../forecast/day.ts';
import { createLiveContext, getStepDueMs, type StepContext } from '../pipeline/forecaster.ts';
import { catchUp, catchUpSelfTests, runStep, SINGLE_DAY_STEPS, STEP_NAMES, type StepReport } from '../pipeline/pipeline.ts';
import type { StepName } from '../pipeline/step-runs.ts';
import { createProgressBar } from '../platform/progress.ts';
import { openOrAttach, parseOrFail, runToEnd } from './script.ts';
import { type CommandSyntax, parseCommandLine } from './svc/command-line.ts';

const CLOCK_STEPS = STEP_NAMES.filter((step) => !SINGLE_DAY_STEPS.includes(step));

const SYNTAX: CommandSyntax = {
  name: 'npm run pipeline --',
  arguments: '[step] [firstDay] [lastDay]',
  example: 'npm run pipeline -- signal --early',
  summary: 'Runs pipeline steps by hand',
  description: `[step] is one of
  catch-up                 everything that is due and not done
  signal, wager, brief     for one day (default: today) or a range of days (YYYY-MM-DD)
  ${CLOCK_STEPS.join(', ')}
                           what is due now`,
  options: [['--early', "let signal make today's forecast before 21:35 UTC; it is final"]],
  footer: `In an empty data folder the record begins today; npm start replays past days into it first.
Repeating a step changes nothing. Nothing is backdated: a day whose window has opened enters the record as missed.
Works beside a running service with the same FEEDS and DATA_DIR, or alone.
Exits with 0 when everything is done, 3 when a step has to wait, 1 on an error.`,
};

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_WAITING = 3;

/** Steps of this command alone. */
const COMMAND_STEPS = ['catch-up'] as const;

type CommandStep = (typeof COMMAND_STEPS)[number];

interface PipelineCommand {
  step: StepName | CommandStep;
  from: Day;
  to: Day;
  early: boolean;
}

type CommandReport = Omit<StepReport, 'step'> & { step: PipelineCommand['step'] };

export async function runPipelineCommand(args: string[]): Promise<void> {
  const isEmpty = args.length === 0;
  const command = parseOrFail(() => parsePipelineCommand(isEmpty ? ['--help'] : args, toDay(Date.now())), EXIT_FAILED);
  if (isEmpty) process.exitCode = EXIT_USAGE;
  if (command === null) return;
  await runToEnd(async (context) => {
    const service = await openOrAttach(context, assembleAttachable);
    const { source } = service.pipeline.market;
    process.stderr.write(`Market data: ${source}${service.feedReason === null ? '' : ` (${service.feedReason})`}\n`);
    // A running service collects live data itself; without one nothing else does.
    await service.live?.collectPrices();
    await service.live?.collect();
    const reports = await runPipelineSteps(service, command);
    for (const { step, day, outcome } of reports) {
      const args = Object.entries(outcome).map(([kind, text]) => (kind === 'done' ? text : `${kind}: ${text}`));
      process.stdout.write(`${step} ${formatDay(day)}: ${args.join()}\n`);
    }
    if (reports.some(({ outcome }) => 'failed' in outcome)) return EXIT_FAILED;
    return reports.some(({ outcome }) => 'waiting' in outcome) ? EXIT_WAITING : 0;
  });
}

export function assembleAttachable(context: StartupContext): Promise<Service> {
  return assembleService(context, null);
}

/** @returns null after printing the help @throws OracleError INPUT_INVALID naming the argument */
export function parsePipelineCommand(args: string[], today: Day): PipelineCommand | null {
  const parsed = parseCommandLine<{ early?: boolean }>(SYNTAX, args, process.stdout);
  if (parsed === null) return null;
  const { early = false } = parsed.values;
  const [step, first, last] = parsed.positionals;
  if (![...COMMAND_STEPS, ...STEP_NAMES].includes(step as StepName | CommandStep)) {
    throw new UsageError('step', `"${step}" is none of ${[...COMMAND_STEPS, ...STEP_NAMES].join(', ')}`);
  }
  if (first !== undefined && !SINGLE_DAY_STEPS.includes(step))
    throw new UsageError('first day', `${step} takes no day: it does what is due now`);
  if (early && step !== 'signal') throw new UsageError('--early', 'goes with signal only');
  const from = first === undefined ? today : parseDay(first);
  const to = last === undefined ? from : parseDay(last);
  if (to < from) throw new UsageError('last day', `${formatDay(to)} lies before ${formatDay(from)}`);
  return { step: step as PipelineCommand['step'], from, to, early };
}

/** A range stops at the first day that has to wait. */
async function runPipelineSteps({ pipeline }: Service, { step, from, to, early }: PipelineCommand): Promise<CommandReport[]> {
  const stepContext = createLiveContext(pipeline, new Date());
  if (step === 'catch-up') return [...(await catchUp(pipeline, stepContext)), ...(await catchUpSelfTests(pipeline, stepContext))];
  const bar = createProgressBar(step);
  const reports: CommandReport[] = [];
  for (let day = from; day <= to; day++) {
    const outcome = rejectTooEarly(step, day, early, stepContext) ?? (await runStep(pipeline, step, day, stepContext));
    reports.push({ step, day, outcome });
    if (to > from) bar.update(day - from + 1, to - from + 1, formatDay(day));
    if (!('done' in outcome)) break;
  }
  bar.end();
  return reports;
}

/** A forecast is final, so that of a day is not made early by accident. */
function rejectTooEarly(step: StepName, day: Day, early: boolean, { now }: StepContext): { waiting: string } | null {
  const dueMs = getStepDueMs('signal', day);
  if (step !== 'signal' || early || now.getTime() >= dueMs) return null;
  return { waiting: `due at ${new Date(dueMs).toISOString()}; --early makes it now` };
}
