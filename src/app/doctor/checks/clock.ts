import { type Chain, readChainHealth, readPendingBlockTime } from '../../../chain/client.ts';
import { readSntpOffsetMs } from '../../../platform/outbound/probes/sntp.ts';
import type { Check, DoctorDeps } from '../check.ts';
import { type Finding, fail, ok, orFinding, skipped, warn } from '../finding.ts';

const MAX_BLOCK_DIFFERENCE_MS = 60_000;
const MAX_NTP_DIFFERENCE_MS = 1_000;
const REPAIR = 'Repair NTP on this machine.';

/** This machine's clock against NTP and the newest block; the database and the venues are compared where they are asked. */
export const clockCheck: Check = {
  id: 'clock',
  title: 'Clock',
  needs: [],
  needsTarget: false,
  async run(deps) {
    const chain = typeof deps.target === 'string' ? null : await deps.chain().catch(() => null);
    const blocks = chain === null ? [] : orFinding(() => compareWithChain(deps, chain));
    return (await Promise.all([compareWithNtp(deps), blocks])).flat();
  },
};

async function compareWithNtp({ ntpHost }: DoctorDeps): Promise<Finding> {
  if (ntpHost === null) return skipped('no NTP server is named: --ntp <host>');
  try {
    const offsetMs = Math.round(await readSntpOffsetMs(ntpHost));
    const detail = `${Math.abs(offsetMs)} ms ${offsetMs < 0 ? 'ahead of' : 'behind'} ${ntpHost}`;
    return Math.abs(offsetMs) <= MAX_NTP_DIFFERENCE_MS ? ok(detail) : fail(detail, { action: REPAIR, isPermanent: true });
  } catch {
    return skipped(`${ntpHost} does not answer to NTP`);
  }
}

async function compareWithChain({ config, now }: DoctorDeps, chain: Chain): Promise<Finding> {
  // A local chain makes no blocks while it is idle.
  const at = config.chainMode === 'real' ? (await readChainHealth(chain)).at : await readPendingBlockTime(chain);
  const aheadMs = at.getTime() - now().getTime();
  const detail = `the newest block is ${Math.abs(Math.round(aheadMs / 1_000))} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`;
  if (aheadMs <= MAX_BLOCK_DIFFERENCE_MS) return ok(detail);
  return warn(detail, REPAIR);
}
