import type { Db } from 'mongodb';
import { createGateReader } from '../../auth/tiers/gate-balance.ts';
import { createAttester } from '../../chain/eas/attester.ts';
import { createReporter } from '../../chain/erc8004/reputation.ts';
import { isSignedBy } from '../../chain/verify-signature.ts';
import { type Contest, createContest } from '../../contest/contest.ts';
import { isReplayUnfinished } from '../../dev/replay.ts';
import { createDayBaselines } from '../../forecast/baselines/day-baselines.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { Forecaster } from '../../pipeline/forecaster.ts';
import { StepRunStore } from '../../pipeline/step-run-store.ts';
import type { Log } from '../../platform/log.ts';
import { openReportStores } from '../../record/report-store.ts';
import { WagerSwitch } from '../../wager/wager-switch.ts';
import type { ServiceCore } from '../core.ts';
import type { EventPublishing } from '../events/event-log.ts';
import type { ProcessContext } from '../process-context.ts';
import { composeSelfTests } from './self-tests.ts';
import type { Venues } from './venues.ts';

interface ComposePipelineDeps extends ServiceCore, Venues {
  push: Pick<EventPublishing, 'publish'>;
  version: string;
}

export function composePipeline({ config, log, shutdown }: ProcessContext, deps: ComposePipelineDeps): PipelineDeps {
  const { db, chain, wallets, record, figures, dataset, crowd, market, wagers, venue, otherVenues, saltSecret, time, version, now } = deps;
  const ownWallets = [wallets.attester.address, wallets.reporter.address];
  return {
    record,
    figures,
    dataset,
    crowd,
    baselines: createDayBaselines(),
    saltSecret,
    market,
    wagers,
    venue,
    otherVenues,
    time,
    log,
    publicUrl: () => deps.publicUrl,
    forecaster: new Forecaster(deps.models, config.MODEL_CHAMPION),
    attester: createAttester(chain, wallets.attester),
    reporter: createReporter({ chain, wallet: wallets.reporter, agentId: async () => deps.agentId }),
    placeWagers: config.WAGERS !== 'off' && config.WAGER_KILL_SWITCH === 'off',
    wagerSwitch: new WagerSwitch(db),
    findHoldReason: async () => ((await isReplayUnfinished(db)) ? 'the replay of past days is not finished; npm start finishes it' : null),
    reports: openReportStores(db),
    selfTests: composeSelfTests({ shutdown }, { db, chainId: chain.chainId, wallets: ownWallets, version, now }),
    runs: new StepRunStore(db, log),
    publishChanges: () => deps.push.publish(),
  };
}

type ComposeContestDeps = Pick<ServiceCore, 'chain' | 'record' | 'models' | 'market' | 'agentId' | 'time' | 'now'> & { db: Db; log: Log };

export function composeContest({ db, chain, record, models, market, agentId, time, now, log }: ComposeContestDeps): Contest {
  const readGate = createGateReader(chain);
  return createContest({
    db,
    record,
    models,
    market,
    time,
    now,
    log,
    deployment: { chainId: chain.chainId, identityRegistry: chain.addresses.identityRegistry, agentId },
    isSignedBy: (signed) => isSignedBy(chain, signed),
    isHolder: async (wallet) => (await readGate(wallet)).tier !== 'public',
  });
}
