import type { StartFrame } from './compose/frame.ts';
import type { Service } from './compose/service.ts';
import { isOracleError, OracleError } from './errors.ts';
import { type Day, dayOf, formatDay, parseDay } from './forecast/day.ts';
import { createProgressBar } from './local/progress.ts';
import { assemble } from './main.ts';
import { DAY_STEPS } from './pipeline/by-hand.ts';
import { catchUp } from './pipeline/catch-up.ts';
import { liveContext, type StepContext } from './pipeline/parts.ts';
import { catchUpSelfTests } from './pipeline/self-test/catch-up.ts';
import type { StepName } from './pipeline/step-runs.ts';
import { runStep, STEP_NAMES, type StepReport } from './pipeline/steps.ts';
import { stepInstant } from './pipeline/times.ts';
import { runOrExplain } from './start.ts';

const CLOCK_STEPS = STEP_NAMES.filter((step) => !DAY_STEPS.includes(step));

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

const FAILED = 1;
const WAITING = 3;

interface Command {
  step: StepName | 'catch-up';
  from: Day;
  to: Day;
  early: boolean;
}

/** Runs steps by hand: what `npm run pipeline` starts. */
export async function main(words: string[]): Promise<void> {
  if (words.length === 0 || words[0] === '--help' || words[0] === 'help') {
    process.stdout.write(USAGE);
    process.exit(words.length === 0 ? 2 : 0);
  }
  await runOrExplain(async (frame) => {
    const command = parseCommand(words, dayOf(Date.now()));
    const service = await attachOrAssemble(frame);
    const { source } = service.pipeline.market;
    process.stderr.write(`Market data: ${source}${service.feedReason === null ? '' : ` (${service.feedReason})`}\n`);
    // Beside a running service nothing is due; alone, nobody else has asked.
    await service.live?.collectPrices();
    await service.live?.collect();
    const reports = await run(service, command);
    for (const report of reports) process.stdout.write(lineOf(report));
    await frame.shutdown.stop('done');
    process.exit(exitCodeOf(reports));
  });
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand(words: string[], today: Day): Command {
  const early = words.includes('--early');
  const [step, first, last, ...rest] = words.filter((word) => word !== '--early');
  if (step !== 'catch-up' && !STEP_NAMES.includes(step as StepName)) {
    throw invalid('step', `"${step}" is none of catch-up, ${STEP_NAMES.join(', ')}`);
  }
  if (rest.length > 0) throw invalid('arguments', `"${rest[0]}" is one argument too many`);
  if (first !== undefined && !DAY_STEPS.includes(step)) throw invalid('first day', `${step} takes no day: it does what is due now`);
  if (early && step !== 'signal') throw invalid('--early', 'goes with signal only');
  const from = first === undefined ? today : parseDay(first);
  const to = last === undefined ? from : parseDay(last);
  if (to < from) throw invalid('last day', `${formatDay(to)} lies before ${formatDay(from)}`);
  return { step: step as Command['step'], from, to, early };
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run pipeline -- --help' });
}

/** Beside a service that runs on the same folder, its database and chain are used; otherwise they are started for this command. */
export async function attachOrAssemble(frame: StartFrame): Promise<Service> {
  try {
    return await assemble(frame, null);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return assemble({ ...frame, config: { ...frame.config, chainMode: 'attached' } }, null);
  }
}

/** Runs the command; a range ends with the first day that has to wait. */
async function run({ pipeline }: Service, { step, from, to, early }: Command): Promise<StepReport[]> {
  const context = liveContext(pipeline, new Date());
  if (step === 'catch-up') return [...(await catchUp(pipeline, context)), ...(await catchUpSelfTests(pipeline, context))];
  const bar = createProgressBar(step);
  const reports: StepReport[] = [];
  for (let day = from; day <= to; day++) {
    const outcome = tooEarly(step, day, early, context) ?? (await runStep(pipeline, step, day, context));
    reports.push({ step, day, outcome });
    if (to > from) bar.update(day - from + 1, to - from + 1, formatDay(day));
    if (!('done' in outcome)) break;
  }
  bar.end();
  return reports;
}

/** A forecast made by hand before its time would be the day's for good. */
function tooEarly(step: StepName, day: Day, early: boolean, { now }: StepContext): { waiting: string } | null {
  const dueMs = stepInstant('signal', day);
  if (step !== 'signal' || early || now.getTime() >= dueMs) return null;
  return { waiting: `due at ${new Date(dueMs).toISOString()}; --early makes it now` };
}

function exitCodeOf(reports: StepReport[]): number {
  if (reports.some(({ outcome }) => 'failed' in outcome)) return FAILED;
  return reports.some(({ outcome }) => 'waiting' in outcome) ? WAITING : 0;
}

function lineOf({ step, day, outcome }: StepReport): string {
  const words = Object.entries(outcome).map(([kind, text]) => (kind === 'done' ? text : `${kind}: ${text}`));
  return `${step} ${formatDay(day)}: ${words.join()}\n`;
}
