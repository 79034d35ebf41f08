import type { WebhookDoc } from '../../../../events/webhooks/registry/webhook.ts';
import { createResolver } from '../../../../platform/outbound/resolve.ts';
import { getHostname } from '../../../../platform/outbound/target.ts';
import type { Check } from '../../check.ts';
import { type Finding, fail, ok, warn } from '../../finding.ts';

/** Of the receivers, whose names are looked up. */
const MAX_LOOKUPS = 5;

/** Whether deliveries find their way out: the names of receivers, and the webhooks that fail now. */
export const webhooksCheck: Check = {
  id: 'webhooks',
  title: 'Webhooks',
  needs: ['MONGODB_URI'],
  needsTarget: true,
  uses: ['database'],
  async run({ database }) {
    const { db } = await database();
    const webhooks = db.collection<WebhookDoc>('webhooks');
    const [all, failing, some] = await Promise.all([
      webhooks.countDocuments(),
      webhooks.countDocuments({ failingSince: { $ne: null } }),
      webhooks
        .find({ status: 'active' }, { projection: { url: 1 } })
        .limit(MAX_LOOKUPS)
        .toArray(),
    ]);
    const names = await checkNames([...new Set(some.map(({ url }) => getHostname(url)))]);
    const detail = `${all} registered, ${failing} of them fail at present`;
    const isOurs = all > 1 && failing === all;
    return [...names, isOurs ? warn(detail, 'All fail, so the fault is probably on this side: look at the way out.') : ok(detail)];
  },
};

async function checkNames(names: readonly string[]): Promise<Finding[]> {
  if (names.length === 0) return [];
  const resolve = createResolver();
  const found = await Promise.all(
    names.map((name) =>
      resolve(name).then(
        () => true,
        () => false,
      ),
    ),
  );
  const count = found.filter(Boolean).length;
  if (count > 0) return [ok(`names of receivers are resolved: ${count} of ${names.length}`)];
  return [fail(`no name of ${names.length} receivers can be resolved: nothing is delivered`, { action: 'Repair DNS on this machine.' })];
}
