import { join } from 'node:path';
import { REGISTRATION_PATH } from '../../agent-card/documents/registration-file.ts';
import { ensureIdentity, updateAgentUri } from '../chain/erc8004/identity.ts';
import { computeReplayRange, hasDaysToReplay } from '../dev/replay.ts';
import { toDay, toInstantMs } from '../forecast/day.ts';
import { HORIZONS } from '../forecast/model.ts';
import { chooseFeed } from '../market/choose-feed.ts';
import { parseProviderUrls } from '../market/live/providers/provider-urls.ts';
import { isLiveReachable } from '../market/live/reachability.ts';
import { requireNoOpenRestore } from '../platform/backup/restore-marker.ts';
import { inDataDir } from '../platform/data-dir/entries.ts';
import type { OracleError } from '../platform/errors.ts';
import { connectMongo, ensureIndexes } from '../platform/mongo.ts';
import { joinUrl } from '../platform/service-url.ts';
import { ChampionLog } from '../record/challenge/champion-log.ts';
import { requireSameSalts } from '../record/commitment/require-same-salts.ts';
import { DatasetService } from '../record/dataset/dataset-service.ts';
import { DatasetFileStore } from '../record/dataset/file-store.ts';
import { FiguresStore } from '../record/figures/figures-store.ts';
import { RecordFigures } from '../record/figures/record-figures.ts';
import { ForecastRecord } from '../record/forecast-record.ts';
import { ModelStore } from '../record/model-store.ts';
import { TimestampStore } from '../record/timestamps/timestamp-store.ts';
import { WagerBook } from '../wager/wager-book.ts';
import { composeChain, composeTrustedTime } from './chain.ts';
import type { ServiceCore } from './core.ts';
import { ALL_INDEXES } from './indexes.ts';
import { openInfrastructure } from './infrastructure.ts';
import { composeMarket, simulatedOnRealChainError } from './pipeline/market.ts';
import { formatStartupError } from './process.ts';
import type { ProcessContext, StartupContext } from './process-context.ts';
import { adoptAttestations } from './startup/adopt-attestations.ts';
import type { ForeignAttestations } from './startup/known-attestations.ts';
import { restoreLostTransactions } from './startup/lost-transactions.ts';
import { requireSameHistory } from './startup/same-history.ts';
import { createStartRetry } from './startup/start-retry.ts';

const now = () => new Date();

/** @param address URL of this process; null for a command, which uses the registered one */
export function openCore(context: StartupContext, address: string | null): Promise<ServiceCore> {
  return inDataDir(context.config.DATA_DIR, () => openCoreParts(context, address));
}

async function openCoreParts(context: StartupContext, address: string | null): Promise<ServiceCore> {
  const { config, shutdown, progress } = context;
  const isRealChain = config.chainMode === 'real';
  const choice = await chooseMarketData(context);
  const range = isRealChain ? null : computeReplayRange(choice.coverage, toDay(Date.now()), config.REPLAY_DAYS);
  const infrastructure = await openInfrastructure({
    config,
    shutdown,
    progress,
    genesisMs: range === null ? undefined : toInstantMs(range.from),
    onFailure: (error) => stopAfterFailure(context, error),
  });
  const { saltSecret, encryptionSecret, localChain } = infrastructure;

  progress.startStep('connecting to database and chain');
  const retry = createStartRetry(context, address !== null);
  const database = await retry(() => connectMongo(infrastructure.mongodbUri));
  shutdown.onStop('database connection', () => database.close());
  const { db } = database;
  await retry(() => requireNoOpenRestore(db));
  await retry(() => ensureIndexes(db, ALL_INDEXES));
  const { chain, journal, signers, wallets } = await retry(() => composeChain(context, db, infrastructure));
  if (localChain !== null) await retry(() => restoreLostTransactions({ chain, journal, localChain }));
  const record = new ForecastRecord({ db, saltSecret, horizons: HORIZONS });
  const models = new ModelStore(db);
  const figuresStore = new FiguresStore(db);
  const hasReplayAhead = localChain !== null && (await hasDaysToReplay({ db, record, range, chain: localChain }));
  // A restored chain has the wall clock's time: behind a block of the present, nothing can be dated to the past.
  if (hasReplayAhead && localChain.restored) await localChain.setNextBlockTime(await localChain.readLastBlockMs());
  const { feed, reason: feedReason } = choice.selectFeed(await record.findSource());
  const { market, live, archive } = await composeMarket(context, db, feed);
  const { address: attester } = wallets.attester;
  const adopt = async (found: ForeignAttestations) => {
    const isAdopted = await adoptAttestations({ chain, journal, attester, record, saltSecret }, found);
    if (isAdopted) reportAdopted(context, found);
    return isAdopted;
  };
  await requireSameHistory({ record, market, chain, journal, attester, isLocalChain: !isRealChain, adopt, dataDir: config.DATA_DIR });
  await requireSameSalts(record, saltSecret, isRealChain ? undefined : join(config.DATA_DIR, 'keys.json'));

  if (isRealChain && (await record.findLastDay()) === null) {
    // Loaded once in the life of a record.
    const { requireReadyForFirstStart } = await import('./doctor/first-start.ts');
    const roles = async () =>
      Object.values(signers).flatMap((signer) => (signer === null ? [] : [{ role: signer.role, address: signer.account.address }]));
    const opened = { database: async () => database, chain: async () => chain, roles };
    await requireReadyForFirstStart({ config, target: infrastructure, ...opened, log: context.log, now });
  }

  progress.startStep('registering the agent');
  const knownUrl = config.PUBLIC_URL ?? address;
  const agentUri = joinUrl(knownUrl ?? `http://127.0.0.1:${config.PORT}`, REGISTRATION_PATH);
  let identity = await retry(() => ensureIdentity(chain, { agentUri, wallet: wallets.attester }));
  return {
    infrastructure,
    database,
    db,
    chain,
    journal,
    signers,
    wallets,
    market,
    live,
    archive,
    saltSecret,
    encryptionSecret,
    record,
    models,
    figuresStore,
    figures: new RecordFigures({ store: figuresStore, record, models }),
    champions: new ChampionLog(db),
    dataset: new DatasetService({ record, models, store: new DatasetFileStore(db, now), now }),
    timestamps: new TimestampStore(db),
    wagers: new WagerBook(db),
    time: composeTrustedTime(context, { chain, database, now }),
    now,
    agentId: identity.agentId,
    publicUrl: knownUrl ?? identity.agentUri.replace(REGISTRATION_PATH, ''),
    identity: () => identity,
    async announce() {
      identity = await updateAgentUri(chain, wallets.attester, identity, agentUri);
    },
    range,
    feedReason,
  };
}

/** A record on a real chain is permanent: unreachable live data is waited for there, never replaced. */
async function chooseMarketData({ config, progress }: StartupContext): ReturnType<typeof chooseFeed> {
  const isRealChain = config.chainMode === 'real';
  if (isRealChain && config.FEEDS === 'simulated') throw simulatedOnRealChainError();
  progress.startStep('looking for market data');
  return chooseFeed(isRealChain && config.FEEDS === 'auto' ? 'live' : config.FEEDS, {
    seed: config.SIMULATION_SEED,
    isLiveReachable: () => isLiveReachable(parseProviderUrls(config.PROVIDER_URLS ?? '')),
  });
}

function reportAdopted({ log }: ProcessContext, { predictions, resolutions }: ForeignAttestations): void {
  const counts = { forecasts: predictions.length, outcomes: resolutions.length };
  log.warn(counts, 'the database is older than the chain: what it lacks was read back');
}

function stopAfterFailure({ log, shutdown }: ProcessContext, error: OracleError): void {
  log.error({ err: error }, 'a part of the service ended by itself');
  process.stderr.write(formatStartupError(error));
  void shutdown.stop(error.message).then(() => process.exit(1));
}
