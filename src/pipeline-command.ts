import { isOracleError, OracleError } from './errors.ts';
import { type Day, dayOf, formatDay, parseDay } from './forecast/day.ts';
import { createProgressBar } from './local/progress.ts';
import { assemble, type Frame, runOrExplain, type Service } from './main.ts';
import { catchUp } from './pipeline/catch-up.ts';
import type { StepName } from './pipeline/step-runs.ts';
import { runStep, STEP_NAMES } from './pipeline/steps.ts';

const USAGE = `Usage: npm run pipeline -- <what> [first day] [last day]

  catch-up                 everything that is due and not done
  ${STEP_NAMES.join(' | ')}
                           one step, for one day (today unless told) or for each day of a range (YYYY-MM-DD)

Steps that are done stay done: running one again changes nothing. Nothing is dated back: a day whose window has opened
enters the record as missed. Works beside a running service on the same DATA_DIR, or alone.
`;

interface Command {
  step: StepName | 'catch-up';
  from: Day;
  to: Day;
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
    const waiting = await run(service, command);
    await frame.shutdown.stop('done');
    process.exit(waiting === null ? 0 : 3);
  });
}

/** @throws OracleError INPUT_INVALID naming the word that is wrong. */
export function parseCommand([step, first, last, ...rest]: string[], today: Day): Command {
  if (step !== 'catch-up' && !STEP_NAMES.includes(step as StepName)) {
    throw invalid('step', `"${step}" is none of catch-up, ${STEP_NAMES.join(', ')}`);
  }
  if (rest.length > 0) throw invalid('arguments', `"${rest[0]}" is one argument too many`);
  const from = first === undefined ? today : parseDay(first);
  const to = last === undefined ? from : parseDay(last);
  if (to < from) throw invalid('last day', `${formatDay(to)} lies before ${formatDay(from)}`);
  return { step: step as Command['step'], from, to };
}

function invalid(field: string, problem: string): OracleError {
  return new OracleError('INPUT_INVALID', `${field}: ${problem}`, { field, suggestedAction: 'npm run pipeline -- --help' });
}

/** Beside a service that runs on the same folder, its database and chain are used; otherwise they are started for this command. */
async function attachOrAssemble(frame: Frame): Promise<Service> {
  const publicUrl = frame.config.PUBLIC_URL ?? `http://127.0.0.1:${frame.config.PORT}`;
  try {
    return await assemble(frame, publicUrl);
  } catch (error) {
    if (!isOracleError(error, 'DATA_DIR_IN_USE')) throw error;
    return assemble({ ...frame, config: { ...frame.config, chainMode: 'attached' } }, publicUrl);
  }
}

/** Runs the command and tells how each day went; returns what the last one waits for, or null. */
async function run({ pipeline }: Service, { step, from, to }: Command): Promise<string | null> {
  const context = { now: new Date(), replayed: false };
  if (step === 'catch-up') {
    await catchUp(pipeline, context);
    process.stdout.write('catch-up: done\n');
    return null;
  }
  const bar = createProgressBar(step);
  for (let day = from; day <= to; day++) {
    const outcome = await runStep(pipeline, step, day, context);
    bar.update(day - from + 1, to - from + 1, formatDay(day));
    if ('waiting' in outcome) {
      bar.end();
      process.stdout.write(`${step} ${formatDay(day)}: waiting: ${outcome.waiting}\n`);
      return outcome.waiting;
    }
  }
  bar.end();
  process.stdout.write(`${step} ${formatDay(from)}${to > from ? ` to ${formatDay(to)}` : ''}: done\n`);
  return null;
}
