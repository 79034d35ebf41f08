import type { RecurringJob } from '../../pipeline/schedule/schedule.ts';
import type { Service } from '../service.ts';
import { createStartRetry } from './start-retry.ts';

const now = () => new Date();

export async function startScheduledJobs(service: Service): Promise<void> {
  const { database, pipeline, state, log, shutdown, webhookDelivery } = service;
  // Imported on demand: an API process saves the memory.
  const { startSchedule } = await import('../../pipeline/schedule/schedule.ts');
  const jobs = buildJobs(service);
  const retry = createStartRetry(service);
  const starting = startSchedule({ db: database.db, deps: pipeline, log, now, jobs, queues: webhookDelivery.queues, retry });
  // Registered before the schedule runs: a stop during the start waits for it, and drains it while the database is open.
  shutdown.onStop('jobs', async () => (await starting).drain(6_000));
  const schedule = await starting;
  state.schedule = schedule;
  await retry(() => webhookDelivery.start(schedule));
  const verifying = verifyFigures(service);
  shutdown.onStop('figures', () => verifying);
}

async function verifyFigures({ pipeline: { figures, crowd }, http: { contest }, log }: Service): Promise<void> {
  try {
    const differing = [
      ...(await figures.verify()),
      ...((await crowd.verify()) ? [] : ['crowd']),
      ...((await contest.figures.verify()) ? [] : ['contest']),
    ];
    if (differing.length > 0)
      log.error({ differing }, 'stored figures of the record differed from a recomputation; they are computed again');
  } catch (error) {
    log.error({ err: error }, 'comparing the figures of the record failed');
  }
}

/** Separate jobs: a slow provider or a long history delays nothing else. */
function buildJobs(service: Service): Record<string, RecurringJob> {
  const { live, archive, stampDays, http, purge } = service;
  const { contest, commerce, purchases } = http;
  const collection: Record<string, RecurringJob> =
    live === null
      ? {}
      : {
          prices: { cron: '* * * * *', run: live.collectPrices },
          collect: { cron: '* * * * *', run: live.collect },
          history: { cron: '*/15 * * * *', run: live.completeHistory },
        };
  return {
    ...collection,
    ...(archive === null ? {} : { archive: { cron: '* * * * *', run: archive.collect } }),
    ...(stampDays === null ? {} : { timestamps: { cron: '* * * * *', run: stampDays } }),
    // Rounds that waited for a price or a forecast continue within minutes.
    contest: { cron: '*/15 * * * *', run: async () => void (await contest.run()) },
    // Payments whose process died before it responded.
    payments: {
      cron: '* * * * *',
      run: async () => {
        await commerce.sales.sweep();
        await purchases.sweep();
      },
    },
    figures: { cron: '40 3 * * *', run: () => verifyFigures(service) },
    // Not every database engine deletes expired documents.
    housekeeping: { cron: '17 * * * *', run: () => purge(now()) },
  };
}
