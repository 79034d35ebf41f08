import { attestedOnChain, type TestService } from '../service/service.ts';

const COLLECTIONS = [
  ...['record_meta', 'days', 'forecasts', 'wagers', 'paper_orders', 'step_runs', 'briefs', 'weekly_reports', 'self_tests'],
  ...['contest_rounds', 'contest_commitments'],
];

/** Everything of a service that cannot be undone, in its database and on its chain. */
export async function recordState(service: TestService): Promise<object> {
  const { db } = service.database;
  const kept = COLLECTIONS.map(async (name) => [name, await db.collection(name).find({}).sort({ _id: 1 }).toArray()]);
  const [documents, prediction, resolution, reputation] = await Promise.all([
    Promise.all(kept),
    attestedOnChain(service, 'prediction'),
    attestedOnChain(service, 'resolution'),
    service.http.reputation(),
  ]);
  return { ...Object.fromEntries(documents), onChain: { prediction, resolution, reputation } };
}
