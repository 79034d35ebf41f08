import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { OracleError } from '../errors.ts';
import { formatDay, parseDay } from '../forecast/day.ts';
import type { Administration, StepResult } from '../http/admin/administration.ts';
import { AuditLog } from '../http/admin/audit-log.ts';
import { createCredentialCheck } from '../http/admin/basic-auth.ts';
import type { JobsConsole, JobsSource } from '../http/admin/jobs-console.ts';
import { jobsPage } from '../http/admin/jobs-page.ts';
import type { AppOptions } from '../http/app.ts';
import type { Log } from '../log.ts';
import type { Database } from '../mongo.ts';
import { runByHand } from '../pipeline/by-hand.ts';
import type { PipelineParts } from '../pipeline/parts.ts';
import type { Schedule } from '../pipeline/schedule.ts';
import { stepStatus } from '../pipeline/status.ts';
import type { StepReport } from '../pipeline/steps.ts';
import { WagerSwitch } from '../wager/wager-switch.ts';

export interface AdministrationComposition {
  config: Pick<Config, 'ADMIN_USER' | 'ADMIN_PASSWORD' | 'ROLE'>;
  db: Database['db'];
  pipeline: PipelineParts;
  /** The running jobs. */
  state: { schedule: Schedule | null };
  /** What is left of the start, or null. */
  setup(): string | null;
  log: Log;
  now(): Date;
}

/** What the routes work with, and what the door needs. */
export interface ComposedAdministration extends Pick<AppOptions, 'admin' | 'adminPage'> {
  administration: Administration;
}

/** What the operator works with, and the way in; without credentials in the settings there is none. */
export function composeAdministration(parts: AdministrationComposition): ComposedAdministration {
  const { config, db, pipeline, state, setup, log, now } = parts;
  const { ADMIN_USER: user, ADMIN_PASSWORD: password, ROLE } = config;
  const audit = new AuditLog({ db, user: user ?? '', log, now });
  const administration: Administration = {
    audit,
    wagerSwitch: new WagerSwitch(db),
    wagersOff: !pipeline.placeWagers,
    steps: () => stepStatus(pipeline),
    async runStep(step, date) {
      const left = setup();
      if (left !== null) throw new OracleError('STEP_WAITING', `The service is being set up: ${left}`);
      return resultOf(await runByHand(pipeline, { step, day: date === undefined ? undefined : parseDay(date), now: now() }));
    },
  };
  // A worker serves nothing that the operator could turn.
  if (user === undefined || password === undefined || ROLE === 'worker') return { administration };
  return { administration, admin: admission({ user, password }, log), adminPage: jobsPage(jobsSource(db, state), audit) };
}

function admission(credentials: { user: string; password: string }, log: Log): NonNullable<AppOptions['admin']> {
  const isRight = createCredentialCheck(credentials);
  return (authorization, { requestId, address }) => {
    if (isRight(authorization)) return;
    // Not what was sent: it may be the password with a slip in it.
    if (authorization !== undefined) log.warn({ requestId, ip: address }, 'credentials of the operator refused');
    throw new OracleError('UNAUTHENTICATED', "This needs the operator's credentials", {
      field: 'Authorization',
      suggestedAction: 'Send the user and password of the settings by HTTP Basic.',
    });
  };
}

function resultOf({ step, day, outcome }: StepReport): StepResult {
  const common = { step, date: formatDay(day) };
  if ('done' in outcome) return { ...common, state: 'done', detail: outcome.done };
  return 'waiting' in outcome
    ? { ...common, state: 'waiting', detail: outcome.waiting }
    : { ...common, state: 'failed', detail: outcome.failed };
}

function jobsSource(db: Database['db'], state: AdministrationComposition['state']): JobsSource {
  let opened: Promise<JobsConsole> | undefined;
  return {
    console() {
      opened ??= openConsole(db).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    files: join(dirname(fileURLToPath(import.meta.resolve('agendash'))), '../public'),
    running: async (fullDetails) => (await state.schedule?.running(fullDetails)) ?? null,
  };
}

/** Loaded when it is first asked for: a process that just answers keeps the memory. */
async function openConsole(db: Database['db']): Promise<JobsConsole> {
  const [{ AgendashController }, { openQueue }] = await Promise.all([import('agendash'), import('../pipeline/schedule.ts')]);
  return new AgendashController(await openQueue(db));
}
