import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatDay, parseDay } from '../../forecast/day.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { runStepManually } from '../../pipeline/run-manually.ts';
import type { Schedule } from '../../pipeline/schedule/schedule.ts';
import { readStepStatus } from '../../pipeline/status.ts';
import type { StepReport } from '../../pipeline/step-registry.ts';
import type { Config } from '../../platform/config/settings.ts';
import { OracleError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import type { Database } from '../../platform/mongo.ts';
import type { AdminService, AdminStepResult } from '../../transports/http/admin/admin-service.ts';
import { AuditLog } from '../../transports/http/admin/audit-log.ts';
import { createCredentialCheck } from '../../transports/http/admin/basic-auth.ts';
import type { JobsConsole, JobsSource } from '../../transports/http/admin/jobs-console.ts';
import { createJobsPage } from '../../transports/http/admin/jobs-page.ts';
import type { AppOptions } from '../../transports/http/server/app-options.ts';
import { WagerSwitch } from '../../wager/wager-switch.ts';
import type { ServiceCore } from '../core.ts';

export interface ComposeAdministrationDeps extends Pick<ServiceCore, 'db' | 'now'> {
  config: Pick<Config, 'ADMIN_USER' | 'ADMIN_PASSWORD' | 'ROLE'>;
  pipeline: PipelineDeps;
  state: { schedule: Schedule | null };
  /** Null once the start is complete. */
  getStartupStep(): string | null;
  log: Log;
}

export interface ComposedAdministration extends Pick<AppOptions, 'admin' | 'adminPage'> {
  administration: AdminService;
}

/** Operations of the operator, and their authentication; without configured credentials they cannot be reached. */
export function composeAdministration(deps: ComposeAdministrationDeps): ComposedAdministration {
  const { config, db, pipeline, state, getStartupStep, log, now } = deps;
  const { ADMIN_USER: user, ADMIN_PASSWORD: password, ROLE } = config;
  const audit = new AuditLog({ db, user: user ?? '', log, now });
  const administration: AdminService = {
    audit,
    wagerSwitch: new WagerSwitch(db),
    wagersOff: !pipeline.placeWagers,
    steps: () => readStepStatus(pipeline),
    async runStep(step, date) {
      const left = getStartupStep();
      if (left !== null) throw new OracleError('STEP_WAITING', `The service is being set up: ${left}`);
      return toStepResult(await runStepManually(pipeline, { step, day: date === undefined ? undefined : parseDay(date), now: now() }));
    },
  };
  // A worker serves no admin routes.
  if (user === undefined || password === undefined || ROLE === 'worker') return { administration };
  return {
    administration,
    admin: createAdminCheck({ user, password }, log),
    adminPage: createJobsPage(createJobsSource(db, state), audit),
  };
}

function createAdminCheck(credentials: { user: string; password: string }, log: Log): NonNullable<AppOptions['admin']> {
  const isRight = createCredentialCheck(credentials);
  return (authorization, { requestId, address }) => {
    if (isRight(authorization)) return;
    // The sent value is not logged: it may be the password with a typo.
    if (authorization !== undefined) log.warn({ requestId, ip: address }, 'credentials of the operator refused');
    throw new OracleError('UNAUTHENTICATED', "This needs the operator's credentials", {
      field: 'Authorization',
      suggestedAction: 'Send the user and password of the settings by HTTP Basic.',
    });
  };
}

function toStepResult({ step, day, outcome }: StepReport): AdminStepResult {
  const common = { step, date: formatDay(day) };
  if ('done' in outcome) return { ...common, state: 'done', detail: outcome.done };
  if ('waiting' in outcome) return { ...common, state: 'waiting', detail: outcome.waiting };
  return { ...common, state: 'failed', detail: outcome.failed };
}

function createJobsSource(db: Database['db'], state: ComposeAdministrationDeps['state']): JobsSource {
  let opened: Promise<JobsConsole> | undefined;
  return {
    console() {
      opened ??= openJobsConsole(db).catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    files: join(dirname(fileURLToPath(import.meta.resolve('agendash'))), '../public'),
    running: async (fullDetails) => (await state.schedule?.getRunningStats(fullDetails)) ?? null,
  };
}

/** Imported on first use: an API process saves the memory. */
async function openJobsConsole(db: Database['db']): Promise<JobsConsole> {
  const [{ AgendashController }, { openJobsAgenda }] = await Promise.all([
    import('agendash'),
    import('../../pipeline/schedule/schedule.ts'),
  ]);
  return new AgendashController(await openJobsAgenda(db));
}
